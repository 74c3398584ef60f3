import CLinux
import PawlBase
import PawlCache
import PawlDisk
import PawlLoop

/// Empty files under `bodies/` for future bodies. With one of them, a new body waits neither for the disk nor for a thread of the
/// pool before its first byte is written.
///
/// A spare file already has its final name. The sweep for orphans (files without a row) leaves it alone, like the file of a body
/// that is not recorded yet. After a process was killed, the next start removes its spare files as orphans.
final class BodyFileSpares: Sendable {
  /// The most spare files; each holds a descriptor.
  static let limit = DescriptorLimit.spare(atMost: 16)

  struct Spare: Sendable {
    let id: ObjectID
    let descriptor: CInt
  }

  private struct State {
    var waiting: [Spare] = []
    var isRefilling = false
    var isClosed = false
  }

  private let state = Locked(State())

  /// The number of spares; for tests.
  var count: Int { state.withLock { $0.waiting.count } }

  /// Takes a spare file. Never blocks.
  /// - Returns: the file, and whether the caller has to call ``refill(_:)``.
  func take() -> (spare: Spare?, wantsMore: Bool) {
    state.withLock { state in
      let spare = state.waiting.popLast()
      let wantsMore = !state.isRefilling && !state.isClosed && state.waiting.count <= Self.limit / 2 && Self.limit > 0
      if wantsMore { state.isRefilling = true }
      return (spare, wantsMore)
    }
  }

  /// Puts back a spare that was not needed.
  func giveBack(_ spare: Spare) { state.withLock { $0.waiting.append(spare) } }

  /// Makes files until there are ``limit``. Blocking. An error is logged at the level `debug` only, because the same error is
  /// logged as a warning when a body is made without a spare.
  func refill(_ core: BodyCore) {
    defer { state.withLock { $0.isRefilling = false } }
    while state.withLock({ !$0.isClosed && $0.waiting.count < Self.limit }) {
      let id = ObjectID.make()
      _ = core.unrecorded.withLock { $0.insert(id) }
      do throws(StoreError) {
        keep(Spare(id: id, descriptor: try BodyFile.create(id, core)), core)
      } catch {
        _ = core.unrecorded.withLock { $0.remove(id) }
        return core.events.log(.debug, "body-spare-failed", ["why": "\(error)"])
      }
    }
  }

  private func keep(_ spare: Spare, _ core: BodyCore) {
    let isKept = state.withLock { state in
      if !state.isClosed { state.waiting.append(spare) }
      return !state.isClosed
    }
    if !isKept { drop(spare, core) }
  }

  /// Removes all spares at the end of the process. Blocking.
  func close(_ core: BodyCore) {
    let spares = state.withLock { state in
      defer { (state.waiting, state.isClosed) = ([], true) }
      return state.waiting
    }
    for spare in spares { drop(spare, core) }
  }

  private func drop(_ spare: Spare, _ core: BodyCore) {
    BodyFile.unlink(spare.id, core)
    CLinux.close(spare.descriptor)
    _ = core.unrecorded.withLock { $0.remove(spare.id) }
  }
}

extension BodyCore {
  /// Makes a body like ``makeBody(expected:total:)`` if that takes neither disk I/O nor an eviction; else returns `nil`. Never
  /// blocks.
  func makeBodyAtOnce(expected: UInt64?, total: UInt64?) -> StoredBody? {
    if isHandedOver { return nil }
    if let body = makeGathered(expected: expected, total: total) { return body }
    // Beyond the limit, another file would have to be closed first.
    guard openBodies.hasRoom else { return nil }
    let (spare, wantsMore) = spares.take()
    if wantsMore { pool.run { [self] in spares.refill(self) } }
    guard let spare else { return nil }
    let content = reservation(expected: expected, total: total)
    guard budget.reserve(content + DiskBudget.objectOverhead) else {
      spares.giveBack(spare)
      return nil
    }
    let charge = DiskCharge(budget, bytes: 0)
    let descriptor = BodyDescriptor(adopting: spare.descriptor, pool: pool, charge: charge)
    return newBody(spare.id, descriptor, charge, total: total, reservation: content)
  }

  /// Reserves disk space and makes a new body, which is gathered in memory or gets a file. Returns `nil`, and logs why, if that
  /// fails. Blocking.
  func makeBody(expected: UInt64?, total: UInt64?) -> StoredBody? {
    if isHandedOver { return nil }
    let content = reservation(expected: expected, total: total)
    let room = content + DiskBudget.objectOverhead
    guard makeRoom(room) else {
      // The store may have been handed over meanwhile, and then nothing has room in it.
      if !isHandedOver { noteRefused(.notice, bytes: room, "\(StoreError.full)") }
      return nil
    }
    if let share = gatheringShare(expected: expected, total: total) { return gathered(total: total, room, share) }
    let id = ObjectID.make()
    _ = unrecorded.withLock { $0.insert(id) }
    let charge = DiskCharge(budget, bytes: 0)
    do throws(StoreError) {
      let descriptor = try openBodies.makingRoom { () throws(StoreError) in try BodyFile.create(id, self, charge) }
      return newBody(id, descriptor, charge, total: total, reservation: content)
    } catch {
      _ = unrecorded.withLock { $0.remove(id) }
      budget.release(room)
      noteRefused(.warning, bytes: room, "\(error)")
      return nil
    }
  }

  /// Makes a body that is gathered in memory and may become a record in a pack. Returns `nil` if
  /// `gatheringShare(expected:total:)` does, or if there is no disk space. Never blocks.
  private func makeGathered(expected: UInt64?, total: UInt64?) -> StoredBody? {
    let reserved = reservation(expected: expected, total: total) + DiskBudget.objectOverhead
    guard let share = gatheringShare(expected: expected, total: total), budget.reserve(reserved) else { return nil }
    return gathered(total: total, reserved, share)
  }

  /// Reserves memory in which a body is gathered. Returns `nil` if the fetch does not bring the complete body, if the body is too
  /// large for a pack, or if the memory is used up.
  private func gatheringShare(expected: UInt64?, total: UInt64?) -> GatheringShare? {
    guard let packs, packs.isWriting, total == nil || expected ?? total == total else { return nil }
    let limit = UInt64(packs.contentLimit)
    // The size of a coded form is unknown beforehand, so `expected` may be up to four times the limit.
    guard total ?? 0 <= limit, expected ?? 0 <= 4 * limit else { return nil }
    return gathering.take(total ?? min(limit, GatheringRoom.unknown))
  }

  private func gathered(total: UInt64?, _ reserved: UInt64, _ share: GatheringShare) -> StoredBody {
    var state = BodyState()
    (state.total, state.reservation, state.place, state.gatheringShare) = (total, reserved, .gathered, share)
    (state.lastTouch, state.lastUsed) = (openBodies.lately, clock.wallSeconds())
    return StoredBody(
      id: ObjectID.make(), number: takeNumber(), core: self, charge: DiskCharge(budget, bytes: 0), state: state)
  }

  /// Returns the number of bytes to reserve for a new body's content.
  func reservation(expected: UInt64?, total: UInt64?) -> UInt64 {
    min(expected ?? total ?? StoredBody.step, total ?? .max, HeldBytes.limit / 2)
  }

  /// Makes a body whose disk space is reserved, overhead included, and whose file exists.
  func newBody(
    _ id: ObjectID, _ descriptor: BodyDescriptor, _ charge: DiskCharge, total: UInt64?, reservation: UInt64
  ) -> StoredBody {
    charge.grow(DiskBudget.objectOverhead)
    var state = BodyState()
    (state.total, state.descriptor, state.reservation) = (total, descriptor, reservation)
    (state.lastTouch, state.lastUsed) = (openBodies.now(), clock.wallSeconds())
    return StoredBody(id: id, number: takeNumber(), core: self, charge: charge, state: state)
  }
}
