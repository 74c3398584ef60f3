import PawlBase
package import PawlCache
package import PawlDisk
import PawlLoop

/// The bytes of one representation, in one file that may have holes. Shared by all loops; every method may be called on
/// any thread unless it says otherwise, and none waits for the disk but ``read(_:into:)``.
package final class StoredBody: @unchecked Sendable {
  // Safe: what changes is in `state`, behind its mutex.
  package let id: ObjectID
  let number: Int64
  let core: BodyCore
  let charge: DiskCharge
  let state: Locked<BodyState>

  /// What a reader finds at a position.
  package enum Availability: Hashable, Sendable {
    /// Verified and contiguous up to here; or in the memory window (``windowBytes(at:limit:)``).
    case bytes(until: UInt64)
    /// On disk but not read since the start, or its file is closed: ``check(at:on:_:)``.
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
    // Wraps: one fewer.
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
    // Nothing will ever find it again.
    if standing == .unpublished, place.isFile { BodyFile.remove(id, core, charge) }
  }

  // MARK: Facts

  /// Bytes in all; `nil` until it is known.
  package var total: UInt64? { state.withLock { $0.total } }

  /// The length has become known. A second, different one is ignored: the bytes held were placed by the first.
  package func setTotal(_ total: UInt64) {
    let isNews = state.withLock { state in
      guard state.total == nil else { return false }
      state.total = total
      return state.isPublished
    }
    if isNews { core.record([.total(number, total)], of: self) }
    wake()
  }

  /// Whether all bytes are held. Of a body from before the start they may still be unverified.
  package var isComplete: Bool { state.withLock { $0.isComplete } }

  /// A copy: what is on disk. Use ``availability(at:)`` to send.
  package var held: HeldBytes { state.withLock { $0.held } }

  /// Up to where all has come from the first byte on, given to readers or not yet.
  package var prefixThatCame: UInt64 {
    state.withLock { $0.place.isGathering ? UInt64($0.gathered.count) : $0.held.prefix }
  }

  package var failure: BodyFailure? { state.withLock { $0.failure } }

  package func availability(at position: UInt64) -> Availability {
    state.withLock { $0.availability(at: position) }
  }

  /// The whole of a small complete body, verified; charged to `[cache] memory`.
  package var inMemory: [UInt8]? {
    state.withLock { state in
      guard let memory = state.memory else { return nil }
      state.memoryUse = .used
      return memory
    }
  }

  /// The server's fill coordinator, under the body's lock: keep `body` short. While there is one, the object is not
  /// evicted and its file stays open.
  package func withFill<R>(_ body: (inout AnyObject?) -> R) -> R { state.withLock { body(&$0.fill) } }

  // MARK: Readers

  /// Who reads, and where they are.
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

  /// A reader came, or has moved on. While there are readers, the object is not evicted and its file stays open.
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

  /// Reads from the file, blocking: in the pool. Gives verified bytes only: the count is short where they end.
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

  /// As ``read(_:into:)``, but also what is not verified yet: for comparing with what the origin sends again.
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

  /// A run of the file for `sendfile`. Ask for bytes that ``availability(at:)`` gave; the descriptor stays open while
  /// the slice lives.
  package func slice(_ range: Range<UInt64>) -> FileSlice {
    let count = Int(range.upperBound - range.lowerBound)
    moveToFile()
    let known = state.withLock { $0.descriptor }
    // Closed between two turns for want of readers: open(2) of a file just used does not wait.
    guard let descriptor = known ?? BodyFile.reopen(self) else {
      return FileSlice(fd: -1, offset: range.lowerBound, count: count, owner: self)
    }
    return FileSlice(
      fd: descriptor.raw, offset: descriptor.base + range.lowerBound, count: count, base: descriptor.base,
      owner: descriptor)
  }

  // MARK: Idle files

  /// When it was last touched, if its file is open and nobody needs it.
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

  /// Gives the memory up; with `unlessUsed` a body that was used since the last call is spared once.
  func leaveMemory(unlessUsed: Bool) -> Bool {
    state.withLock { state in
      if unlessUsed, state.memoryUse.wasPassed() { return false }
      state.dropMemory()
      return true
    }
  }
}
