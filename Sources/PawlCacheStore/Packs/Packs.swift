import CLinux
import PawlBase
import PawlDisk
import PawlLoop
import PawlObserve

/// The packs of one cache: files under `packs/` in which small complete objects lie one after another. Storing an object takes
/// one write, and sending it one read. A changed object is written as a new record, and the old record is marked as dead.
///
/// Each writer uses one of a few lanes, and each lane writes to a pack of its own. So writers seldom wait for each other. In a
/// lane, each record is written completely before the next one begins. So if the process is killed, only the last record of a pack
/// can be incomplete.
final class Packs: Sendable {
  /// The largest content that is kept in packs, in bytes.
  var contentLimit: Int { Int(clamping: contentLimitInUse.load()) }
  /// The size of a new pack in bytes.
  var packSize: Int { Int(clamping: packSizeInUse.load()) }
  private let contentLimitInUse: AtomicWord
  private let packSizeInUse: AtomicWord
  let place: StorePlace
  let seed: UInt64
  let events: EventLog
  let pool: WorkerPool
  let budget: DiskBudget
  let clock: any LoopClock

  private static let laneCount = 4
  private let lanes: [Locked<Lane>]
  /// Whether a pack file was made since the directory was last synced.
  private let hasNewName = Locked(false)
  private let failures: FailureLog
  private let state: Locked<State>

  private struct Lane { var pack: Pack? }

  private struct State {
    /// The packs by number, from `first` on; `nil`: removed.
    var table: [Pack?] = []
    var first: UInt32 = 1
    var next: UInt32 = 1
    /// A pack that was made before it is needed.
    var spare: Pack?
    var isMaking = false
    var isClosed = false
  }

  /// Whether new objects are written to packs. If not, the existing ones are only read.
  var isWriting: Bool { contentLimit > 0 }

  /// The number of packs into which the space of the cache is divided. The space is freed in steps of one pack.
  static let share: UInt64 = 64
  /// The smallest pack in bytes. A cache that is too small for ``share`` packs of that size writes none.
  static let leastSize: UInt64 = 1 << 20
  /// The largest pack in bytes, unless there would be too many packs.
  static let usualSize: UInt64 = 64 << 20

  /// Returns the size of a pack in bytes for a cache of `maxSize` bytes.
  /// - Parameter mostPacks: how many packs there may be; each of them keeps a descriptor open. If a full cache would have more
  ///   packs of the usual size, the packs are made larger, up to ``PackPlace/packLimit``.
  static func size(for maxSize: UInt64, mostPacks: Int) -> UInt64 {
    min(max(min(maxSize / share, usualSize), maxSize / UInt64(max(1, mostPacks))), UInt64(PackPlace.packLimit))
  }

  /// The number of descriptors that the packs hold when the cache is full.
  var descriptorsWhenFull: Int { Int(clamping: budget.maxSize / UInt64(packSize)) + Self.laneCount + 1 }

  convenience init(
    _ place: StorePlace, packedObject: UInt64, mostPacks: Int, seed: UInt64, pool: WorkerPool, events: EventLog,
    budget: DiskBudget, clock: any LoopClock
  ) {
    let (contentLimit, packSize) = Self.limits(packedObject, maxSize: budget.maxSize, mostPacks: mostPacks)
    self.init(
      place, contentLimit: contentLimit, packSize: packSize, seed: seed, pool: pool, events: events,
      budget: budget, clock: clock)
  }

  private static func limits(
    _ packedObject: UInt64, maxSize: UInt64, mostPacks: Int
  ) -> (contentLimit: Int, packSize: Int) {
    let size = size(for: maxSize, mostPacks: mostPacks)
    let limit = size < leastSize ? 0 : min(packedObject, mostContent, size / leastContents)
    return (Int(limit), Int(max(size, leastSize)))
  }

  /// Uses other limits for new objects and new packs from now on.
  func setLimits(packedObject: UInt64, maxSize: UInt64, mostPacks: Int) {
    let limits = Self.limits(packedObject, maxSize: maxSize, mostPacks: mostPacks)
    contentLimitInUse.store(UInt(limits.contentLimit))
    packSizeInUse.store(UInt(limits.packSize))
  }

  /// The largest content in bytes that can be configured for packs.
  static let mostContent: UInt64 = 1 << 20
  /// A pack has space for at least this many contents of the largest size.
  static let leastContents: UInt64 = 8

  init(
    _ place: StorePlace, contentLimit: Int, packSize: Int, seed: UInt64, pool: WorkerPool, events: EventLog,
    budget: DiskBudget, clock: any LoopClock
  ) {
    (self.place, self.seed) = (place, seed)
    (contentLimitInUse, packSizeInUse) = (AtomicWord(UInt(contentLimit)), AtomicWord(UInt(packSize)))
    (self.pool, self.events, self.budget, self.clock) = (pool, events, budget, clock)
    failures = FailureLog(events: events, clock: clock)
    lanes = (0..<Self.laneCount).map { _ in Locked(Lane()) }
    state = Locked(State())
  }

  /// The directory of the packs, below the directory of the cache.
  static let folder = "/packs"
  var directory: String { place.path + Self.folder }

  /// Whether the directory of packs in a cache directory has files. Blocking.
  static func areThere(in path: String) throws(StoreError) -> Bool {
    guard Files.exists(path + folder) else { return false }
    return try !Files.names(in: path + folder).isEmpty
  }

  func path(of number: UInt32) -> String {
    let digits = String(number, radix: 16)
    return directory + "/" + String(repeating: "0", count: 8 - min(8, digits.utf8.count)) + digits
  }

  // MARK: The table of packs

  /// Adds a pack that was found when pawl started. Called in ascending order of numbers.
  func adopt(_ pack: Pack) {
    state.withLock { state in
      if state.table.isEmpty { state.first = pack.number }
      while state.first + UInt32(state.table.count) < pack.number { state.table.append(nil) }
      state.table.append(pack)
      state.next = pack.number + 1
    }
  }

  /// Makes the next new pack get a higher number than this one.
  func skip(beyond number: UInt32) { state.withLock { $0.next = max($0.next, number + 1) } }

  func pack(_ number: UInt32) -> Pack? {
    state.withLock { state in
      guard number >= state.first, Int(number - state.first) < state.table.count else { return nil }
      return state.table[Int(number - state.first)]
    }
  }

  /// All packs, the oldest first.
  var all: [Pack] { state.withLock { $0.table.compactMap(\.self) } }

  /// The size of all packs in bytes.
  var size: Int { all.reduce(0) { $0 + $1.size } }

  // MARK: Writing

  /// Writes a record, and adds its size to the used space in the budget. Returns `nil`, and logs the error, if the write fails.
  func append(_ bytes: [UInt8]) -> PackPlace? { append(bytes, UnsafeRawBufferPointer(start: nil, count: 0)) }

  /// Writes a record from two parts: its front, which is everything before the content, and its content.
  func append(_ front: [UInt8], _ content: UnsafeRawBufferPointer) -> PackPlace? {
    let size = front.count + PackRecord.padded(content.count)
    let lane = lanes[Int(pthread_self() >> 12) % Self.laneCount]
    do throws(StoreError) {
      let place = try lane.withLock { (lane) throws(StoreError) in
        if let pack = lane.pack, pack.size + size > packSize {
          pack.seal()
          lane.pack = nil
          pool.run { [self] in writeIndex(of: pack) }
        }
        let pack = if let pack = lane.pack { pack } else { try takeNew() }
        lane.pack = pack
        return try pack.append(front, content, at: clock.wallSeconds(), clock.now())
      }
      budget.chargeWritten(UInt64(size))
      return place
    } catch {
      failures.log(
        .warning, "pack-write-failed", of: "append",
        ["path": directory, "why": "\(error)", "instead": "a file of its own"])
      return nil
    }
  }

  /// Marks the packs that are being written to as full. Only full packs can be emptied and removed to free their space. Blocking.
  /// - Returns: whether one of them has records.
  func sealAll() -> Bool {
    var hasSealed = false
    for lane in lanes {
      let pack = lane.withLock { lane -> Pack? in
        guard let pack = lane.pack, pack.size > Pack.headSize else { return nil }
        pack.seal()
        lane.pack = nil
        return pack
      }
      guard let pack else { continue }
      writeIndex(of: pack)
      hasSealed = true
    }
    return hasSealed
  }

  private func takeNew() throws(StoreError) -> Pack {
    let spare = state.withLock { state in
      defer { state.spare = nil }
      return state.spare
    }
    pool.run { [self] in makeSpare() }
    let pack = if let spare { spare } else { try make() }
    enter(pack)
    return pack
  }

  /// Adds a pack that is written to from now on. Packs may be added in another order than they were made, so empty entries are
  /// inserted for lower numbers.
  func enter(_ pack: Pack) {
    state.withLock { state in
      if state.table.isEmpty { state.first = pack.number }
      while pack.number < state.first {
        state.table.insert(nil, at: 0)
        state.first -= 1
      }
      while state.first + UInt32(state.table.count) <= pack.number { state.table.append(nil) }
      state.table[Int(pack.number - state.first)] = pack
    }
    budget.chargeWritten(UInt64(Pack.headSize))
  }

  /// Makes the spare pack. Blocking.
  func makeSpare() {
    let isWanted = state.withLock { state in
      guard !state.isMaking, state.spare == nil, !state.isClosed else { return false }
      state.isMaking = true
      return true
    }
    guard isWanted else { return }
    do throws(StoreError) {
      let pack = try make()
      let isKept = state.withLock { state in
        state.isMaking = false
        if !state.isClosed { state.spare = pack }
        return !state.isClosed
      }
      if !isKept { try Files.unlink(path(of: pack.number)) }
    } catch {
      state.withLock { $0.isMaking = false }
      events.log(.debug, "pack-spare-failed", ["path": directory, "why": "\(error)"])
    }
  }

  private func make() throws(StoreError) -> Pack {
    let number = state.withLock { state in
      defer { state.next += 1 }
      return state.next
    }
    guard number < PackPlace.numberLimit else { throw .full }
    let path = path(of: number)
    let descriptor = try Files.open(path, O_RDWR | O_CREAT | O_EXCL)
    let pack = Pack(
      number: number, descriptor: descriptor, end: Pack.headSize, live: 0, isSealed: false,
      lastWritten: clock.wallSeconds(), pool: pool)
    try Files.writeAll(descriptor, PackHead.bytes(seed: seed)[...], at: 0)
    hasNewName.withLock { $0 = true }
    return pack
  }

  /// Marks the record at that place as dead, at once if that does not wait for the disk, else in the pool.
  func kill(_ place: PackPlace) {
    guard let pack = pack(place.pack), !kill(place, in: pack, waits: false) else { return }
    let kill: @Sendable () -> Void = { [self] in _ = self.kill(place, in: pack, waits: true) }
    if !pool.run(kill) { kill() }
  }

  /// Marks a record as dead, and removes a full pack without live records.
  /// - Returns: `false` if this would wait for the disk.
  private func kill(_ place: PackPlace, in pack: Pack, waits: Bool) -> Bool {
    do throws(StoreError) {
      guard try pack.kill(place, waits: waits) else { return false }
    } catch {
      noteFailure("pack-write-failed", path(of: place.pack), error)
    }
    if pack.isSealed, pack.live == 0 {
      pool.run { [self] in remove(pack) }
    }
    return true
  }

  /// Removes a pack that has no live records, and its files. Blocking.
  func remove(_ pack: Pack) {
    guard pack.beginDropping() else { return }
    takeOut(pack)
  }

  /// Removes a pack after ``Pack/beginDropping()`` has returned `true`.
  func takeOut(_ pack: Pack) {
    let isHere = state.withLock { state in
      let index = Int(pack.number) - Int(state.first)
      guard state.table.indices.contains(index), state.table[index] === pack else { return false }
      state.table[index] = nil
      while let first = state.table.first, first == nil {
        state.table.removeFirst()
        state.first += 1
      }
      return true
    }
    guard isHere else { return }
    // The file with the list of records (``PackList``) is removed first. If the process is killed between the two, the list must
    // not be found beside a later pack with the same number.
    for path in [indexPath(of: pack.number), path(of: pack.number)] {
      do throws(StoreError) {
        try Files.unlink(path)
      } catch {
        events.log(.error, "pack-unlink-failed", ["path": path, "why": "\(error)"])
      }
    }
    budget.uncharge(UInt64(pack.size))
  }

  // MARK: Durability

  /// Syncs everything that was written to packs. Blocking.
  func sync() {
    if hasNewName.withLock({ isNew in
      defer { isNew = false }
      return isNew
    }) {
      do throws(StoreError) { try Files.syncDirectory(directory) } catch {
        hasNewName.withLock { $0 = true }
        noteFailure("pack-sync-failed", directory, error)
      }
    }
    for pack in all where pack.takeDirt() {
      if fdatasync(pack.descriptor) != 0 {
        pack.noteDirt()
        noteFailure("pack-sync-failed", path(of: pack.number), Files.failure("fdatasync", path(of: pack.number)))
      }
    }
  }

  /// Logs that a pack, or a part of one, was lost between two runs: up to ``FailureLog/few`` times a minute.
  func noteLoss(_ event: StaticString, _ path: String, _ why: String) {
    failures.log(.warning, event, of: "\(event)", atMost: FailureLog.few, ["path": path, "why": why])
  }

  /// Logs a failure at most once a minute, with the number of events that were not logged.
  private func noteFailure(_ event: StaticString, _ path: String, _ why: StoreError) {
    failures.log(.error, event, of: "\(event)", ["path": path, "why": "\(why)"])
  }

  /// Removes the spare pack and syncs the others, at the end of the process. Nothing is written any more after this. Blocking.
  func close() {
    let spare = state.withLock { state in
      defer { (state.spare, state.isClosed) = (nil, true) }
      return state.spare
    }
    if let spare { unlink(path(of: spare.number)) }
    sync()
  }
}

/// The head of a pack file.
enum PackHead {
  private static let mark: UInt64 = 0x7061_776c_0000_0101

  static func bytes(seed: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(number: mark)
    bytes.append(number: seed)
    bytes.append(contentsOf: repeatElement(0, count: Pack.headSize - bytes.count))
    return bytes
  }

  /// Whether these are the first bytes of a pack of the cache with this seed.
  static func isOne(_ bytes: [UInt8], seed: UInt64) -> Bool { bytes == self.bytes(seed: seed) }
}
