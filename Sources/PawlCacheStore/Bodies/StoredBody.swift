import PawlBase
package import PawlCache
package import PawlDisk
import PawlLoop

/// The bytes of one representation, in one file that may have holes, in a pack, or in memory. Shared by all loops. Every method
/// may be called on any thread unless it says otherwise. Only methods whose comment says that they block wait for the disk.
package final class StoredBody: @unchecked Sendable {
  // Safe: everything that changes is in `state`, protected by its mutex.
  package let id: ObjectID
  let number: Int64
  let core: BodyCore
  let charge: DiskCharge
  let state: Locked<BodyState>

  /// What a reader finds at a position.
  package enum Availability: Hashable, Sendable {
    /// Bytes without a hole up to `until`: verified ones, or those in the memory window (``windowBytes(at:limit:)``).
    case bytes(until: UInt64)
    /// The bytes are on the disk, but are not verified, or their file is closed. The reader has to call ``check(at:on:_:)``.
    case checking
    case missing
    /// The position is the body's end.
    case ended
    case failed(BodyFailure)
  }

  init(id: ObjectID, number: Int64, core: BodyCore, charge: DiskCharge, state: BodyState) {
    (self.id, self.number, self.core, self.charge) = (id, number, core, charge)
    self.state = Locked(state)
    _ = core.bodyCount.add(1)
    if state.place.isFile { core.noteLive(self) }
    if state.descriptor.map({ $0.pack == nil }) ?? false { core.openBodies.add(self) }
  }

  deinit {
    // Adding the highest number subtracts one, because the sum wraps around.
    _ = core.bodyCount.add(.max)
    let (reservation, standing, place, wasAdmitted) = state.withLock { state in
      (state.reservation, state.standing, state.place, state.wasAdmitted)
    }
    if place.isFile {
      core.noteDead(number)
      core.openBodies.remove(ObjectIdentifier(self))
    }
    if wasAdmitted { core.memory.remove(ObjectIdentifier(self)) }
    if reservation > 0 { core.budget.release(reservation) }
    // A body that was never published is found by no look-up, so its file is not needed.
    if standing == .unpublished, place.isFile { BodyFile.remove(id, core, charge) }
  }

  // MARK: Facts

  /// The length of the complete body in bytes; `nil` until it is known.
  package var total: UInt64? { state.withLock { $0.total } }

  /// Sets the length as soon as it is known. A different length later is ignored, because the held bytes belong to the first one.
  package func setTotal(_ total: UInt64) {
    let isNews = state.withLock { state in
      guard state.total == nil else { return false }
      state.total = total
      return state.isPublished
    }
    if isNews { core.record([.total(number, total)], of: self) }
    wake()
  }

  /// Whether all bytes are held. If the body was stored before the start of the process, the bytes may still be unverified.
  package var isComplete: Bool { state.withLock { $0.isComplete } }

  /// The ranges on disk, as a copy. They may be unverified, so call ``availability(at:)`` before sending bytes.
  package var held: HeldBytes { state.withLock { $0.held } }

  /// The number of bytes that have come, from byte zero up to the first hole. Readers may not get all of them yet.
  package var prefixThatCame: UInt64 {
    state.withLock { $0.place.isGathering ? UInt64($0.gathered.count) : $0.held.prefix }
  }

  package var failure: BodyFailure? { state.withLock { $0.failure } }

  package func availability(at position: UInt64) -> Availability {
    state.withLock { $0.availability(at: position) }
  }

  /// All bytes of a small complete body, verified; charged to `[cache] memory`. `nil` if they are not in memory.
  package var inMemory: [UInt8]? {
    state.withLock { state in
      guard let memory = state.memory else { return nil }
      state.memoryUse = .used
      return memory
    }
  }

  /// Calls `body` with the server's fill coordinator, under the body's lock. `body` has to be short. While there is a
  /// coordinator, the object is not evicted and its file stays open.
  package func withFill<R>(_ body: (inout AnyObject?) -> R) -> R { state.withLock { body(&$0.fill) } }

  // MARK: Readers

  /// The number of readers, and their positions.
  package struct Readers: Hashable, Sendable {
    package var count: Int
    /// `nil` without readers.
    package var slowest: UInt64?
    package var fastest: UInt64?
  }

  package var readers: Readers {
    state.withLock { state in
      Readers(count: state.readers.count, slowest: state.readers.values.min(), fastest: state.readers.values.max())
    }
  }

  /// Notes that a reader has come or moved on. While there are readers, the object is not evicted and its file stays open.
  package func readerMoved(token: ObjectIdentifier, position: UInt64) {
    state.withLock { state in
      state.readers[token] = position
      if state.window != nil { state.trimWindow() }
    }
  }

  package func readerLeft(token: ObjectIdentifier) {
    cancelWait(token: token)
    let now = core.openBodies.now()
    state.withLock { state in
      state.readers[token] = nil
      state.lastTouch = now
      if state.window != nil, !state.readers.isEmpty { state.trimWindow() }
    }
  }

  // MARK: Bytes

  /// Reads verified bytes from the file. Blocking; called in the pool.
  /// - Returns: the number of bytes that were read; fewer than requested if the verified bytes end earlier.
  package func read(_ range: Range<UInt64>, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let source = state.withLock { state -> (BodyDescriptor, Int)? in
      guard state.failure == nil, let descriptor = state.descriptor else { return nil }
      let end = min(state.verified.contiguousEnd(from: range.lowerBound), range.upperBound)
      return end > range.lowerBound ? (descriptor, Int(end - range.lowerBound)) : nil
    }
    guard let (descriptor, count) = source else { return 0 }
    do throws(StoreError) {
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(count, buffer.count)])
      return try Files.read(descriptor.raw, target, at: descriptor.base + range.lowerBound)
    } catch {
      core.events.log(.error, "body-read-failed", ["body": id.hex, "why": "\(error)"])
      return 0
    }
  }

  /// Reads like ``read(_:into:)``, but also bytes that are not verified yet, to compare them with bytes that the origin sends
  /// again. Blocking.
  package func readUnverified(_ range: Range<UInt64>, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let slice = slice(range)
    guard slice.fd >= 0 else { return 0 }
    do throws(StoreError) {
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(slice.count, buffer.count)])
      return try Files.read(slice.fd, target, at: slice.offset)
    } catch {
      core.events.log(.error, "body-read-failed", ["body": id.hex, "why": "\(error)"])
      return 0
    }
  }

  /// Returns a range of the file for `sendfile`. The range has to be within what ``availability(at:)`` returned. The descriptor
  /// stays open while the slice exists.
  package func slice(_ range: Range<UInt64>) -> FileSlice {
    let count = Int(range.upperBound - range.lowerBound)
    moveToFile()
    let known = state.withLock { $0.descriptor }
    // The file may have been closed between two turns of the loop because the body had no readers. Opening a file that was just
    // used does not wait for the disk.
    guard let descriptor = known ?? BodyFile.reopen(self) else {
      return FileSlice(fd: -1, offset: range.lowerBound, count: count, keeper: self)
    }
    return FileSlice(
      fd: descriptor.raw, offset: descriptor.base + range.lowerBound, count: count, base: descriptor.base,
      keeper: descriptor)
  }

  // MARK: Idle files

  /// The moment of the last use (``OpenBodies/now()``), if the body's file is open and could be closed now; else `nil`.
  var idleSince: UInt64? {
    state.withLock { $0.descriptor != nil && $0.isIdle && $0.unsyncedBytes == 0 ? $0.lastTouch : nil }
  }

  func closeIfIdle() -> Bool {
    let closed = state.withLock { state -> BodyDescriptor? in
      guard state.isIdle, state.unsyncedBytes == 0 else { return nil }
      defer { state.descriptor = nil }
      state.warmth.clear()
      return state.descriptor
    }
    return closed != nil
  }

  /// Drops the copy in memory. With `unlessUsed`, a copy that was used since the last such call stays.
  /// - Returns: whether the copy was dropped.
  func leaveMemory(unlessUsed: Bool) -> Bool {
    state.withLock { state in
      if unlessUsed, state.memoryUse.wasPassed() { return false }
      state.dropMemory()
      return true
    }
  }
}
