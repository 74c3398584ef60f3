import CLinux
import PawlBase
import PawlDisk
import PawlLoop

/// One file with the records of small objects, one after another. A record is *live* until it is marked as dead. Records are only
/// added, until the file is full; later the complete file is removed. A reader that has a reference to the pack can read it even
/// after the file was unlinked.
final class Pack: Sendable {
  let number: UInt32
  let descriptor: CInt
  private let pool: WorkerPool
  private let state: Locked<State>
  /// Held by the thread that marks a record as dead.
  private let marking = Locked(())
  let proven = Locked(ProvenRecords())

  private struct State {
    /// The offset of the next record.
    var end: Int
    /// The size of the live records in bytes.
    var live: Int
    var isSealed = false
    /// Whether something was written since the last sync.
    var isDirty = false
    /// The time of the last record (wall clock, seconds).
    var lastWritten: Int64
    var isDropped = false
    var isCounted = true
  }

  /// The size of the head before the first record. The head shows that the pack belongs to this cache.
  static let headSize = PackPlace.unit

  init(number: UInt32, descriptor: CInt, end: Int, live: Int, isSealed: Bool, lastWritten: Int64, pool: WorkerPool) {
    (self.number, self.descriptor, self.pool) = (number, descriptor, pool)
    state = Locked(State(end: end, live: live, isSealed: isSealed, lastWritten: lastWritten))
  }

  deinit {
    let descriptor = descriptor
    // Closing a file that was unlinked frees its blocks. That takes time, so the pool does it.
    if !pool.run({ close(descriptor) }) { close(descriptor) }
  }

  /// The size of the file in bytes.
  var size: Int { state.withLock { $0.end } }
  /// The size of the live records in bytes. It may be too high until ``isCounted`` is `true`.
  var live: Int { state.withLock { $0.live } }
  var isSealed: Bool { state.withLock { $0.isSealed } }
  /// The time of the last record (wall clock, seconds).
  var lastWritten: Int64 { state.withLock { $0.lastWritten } }

  /// Marks the pack as full, so that no more records are written to it.
  func seal() { state.withLock { $0.isSealed = true } }

  /// Whether the pack is full, and its removal has not begun.
  var isRemovable: Bool { state.withLock { $0.isSealed && !$0.isDropped } }

  /// Notes that the removal of the pack begins: its live records are moved or evicted, then the file is removed.
  /// - Returns: `false` if the removal had already begun.
  func beginDropping() -> Bool {
    state.withLock { state in
      defer { state.isDropped = true }
      return !state.isDropped
    }
  }

  /// Notes that the pack is not removed now, because a live record could not be moved.
  func endDropping() { state.withLock { $0.isDropped = false } }

  /// Returns whether something was written since the last call.
  func takeDirt() -> Bool {
    state.withLock { state in
      defer { state.isDirty = false }
      return state.isDirty
    }
  }

  /// Sets the values that were found when pawl started and read this pack.
  /// - Parameter isCounted: `false` if some of these records may be dead.
  func noteFound(live: Int, lastWritten: Int64, isCounted: Bool) {
    state.withLock { ($0.live, $0.lastWritten, $0.isCounted) = (live, lastWritten, isCounted) }
  }

  /// Whether ``live`` is exact.
  var isCounted: Bool { state.withLock { $0.isCounted } }

  /// Corrects ``live`` after the live records were counted in the file. Records may have been marked as dead during the count, so
  /// the smaller of both numbers is kept.
  func noteCounted(_ bytes: Int) {
    state.withLock { ($0.live, $0.isCounted) = (min($0.live, bytes), true) }
  }

  func noteDirt() { state.withLock { $0.isDirty = true } }

  private static let padding = [UInt8](repeating: 0, count: PackPlace.unit)

  /// Writes a record after the last one, into the page cache. One writer at a time.
  /// - Parameters:
  ///   - front: everything that comes before the content.
  ///   - content: is padded here; may be empty if the content is in `front`.
  func append(
    _ front: [UInt8], _ content: UnsafeRawBufferPointer, at time: Int64, _ now: Monotonic
  ) throws(StoreError) -> PackPlace {
    let before = FileStamp(of: descriptor)
    let end = state.withLock { $0.end }
    let size = front.count + PackRecord.padded(content.count)
    let outcome = front.withUnsafeBytes { front in
      Self.padding.withUnsafeBytes { padding in
        let padding = UnsafeRawBufferPointer(rebasing: padding[..<(size - front.count - content.count)])
        return Result { () throws(StoreError) in
          try Files.writeAll(descriptor, front, content, padding, at: UInt64(end))
        }
      }
    }
    do throws(StoreError) {
      try outcome.get()
    } catch {
      // Removes the partial record. If the truncation fails, too, the next record is written over it. A partial record is never
      // used, because its checksum does not match.
      _ = ftruncate(descriptor, off_t(end))
      throw error
    }
    state.withLock { state in
      state.end = end + size
      state.live += size
      (state.isDirty, state.lastWritten) = (true, time)
    }
    noteAppended(content.isEmpty ? nil : end + front.count, now: now, before: before)
    return PackPlace(pack: number, offset: end, size: size)
  }

  /// Marks a record as dead, so that it is not used any more. The mark is written into the page cache. Does nothing if the record
  /// is already dead.
  /// - Parameter waits: whether this may wait for the disk; always `false` on a loop.
  /// - Returns: `false` if this would wait for the disk.
  func kill(_ place: PackPlace, waits: Bool) throws(StoreError) -> Bool {
    // Reads from the disk before taking the lock, so that no other thread waits for it.
    if waits, case .failed(let error) = read(place.offset, PackPlace.unit, waits: true) { throw error }
    return try marking.withLock { _ throws(StoreError) in
      switch read(place.offset, PackPlace.unit, waits: waits) {
      case .wouldWait: return false
      case .failed(let error): throw error
      case .bytes(let bytes):
        guard bytes.withUnsafeBytes({ PackRecord.Head($0)?.isLive }) == true else { return true }
        let before = FileStamp(of: descriptor)
        try Files.writeAll(descriptor, PackRecord.deadState[...], at: UInt64(place.offset + PackRecord.stateOffset))
        proven.withLock { $0.wrote(before, FileStamp(of: descriptor)) }
        noteGone(place)
        return true
      }
    }
  }

  /// Updates the counts after a record was marked as dead.
  private func noteGone(_ place: PackPlace) {
    state.withLock { state in
      state.live -= min(place.size, state.live)
      state.isDirty = true
    }
  }

  /// The result of a read.
  enum Reading {
    case bytes([UInt8])
    /// Reading would wait for the disk.
    case wouldWait
    case failed(StoreError)
  }

  /// Reads a record.
  /// - Parameter waits: whether this may wait for the disk; always `false` on a loop.
  func read(_ place: PackPlace, waits: Bool) -> Reading { read(place.offset, place.size, waits: waits) }

  func read(_ offset: Int, _ size: Int, waits: Bool) -> Reading {
    var failure: StoreError?
    var isThere = true
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      let target = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<size])
      if waits {
        do throws(StoreError) { count = try Files.read(descriptor, target, at: UInt64(offset)) } catch {
          failure = error
        }
      } else {
        let read = pawl_pread_nowait(descriptor, target.baseAddress, size, off_t(offset))
        // Also `false` if the file system does not support non-blocking reads (`RWF_NOWAIT`). Then the pool reads.
        isThere = read == size
        count = max(0, read)
      }
    }
    if let failure { return .failed(failure) }
    return isThere ? .bytes(bytes) : .wouldWait
  }
}
