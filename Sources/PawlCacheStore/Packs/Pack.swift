import CLinux
import PawlBase
import PawlDisk
import PawlLoop

/// One file of small objects, one record behind another. It only grows, until it is full; then it goes as a whole. What is read from it
/// stays readable while somebody has it, whatever has become of its name.
final class Pack: Sendable {
  let number: UInt32
  let descriptor: CInt
  private let pool: WorkerPool
  private let state: Locked<State>
  /// Who marks records.
  private let marking = Locked(())
  let proven = Locked(ProvenRecords())

  private struct State {
    /// Where the next record goes.
    var end: Int
    /// Bytes of records that still count.
    var live: Int
    var isSealed = false
    /// Something was written since the last sync.
    var isDirty = false
    /// Wall clock, seconds: of the last record.
    var lastWritten: Int64
    var isDropped = false
    var isCounted = true
  }

  /// The bytes before the first record: what tells that it is a pack of this cache.
  static let headSize = PackPlace.unit

  init(number: UInt32, descriptor: CInt, end: Int, live: Int, isSealed: Bool, lastWritten: Int64, pool: WorkerPool) {
    (self.number, self.descriptor, self.pool) = (number, descriptor, pool)
    state = Locked(State(end: end, live: live, isSealed: isSealed, lastWritten: lastWritten))
  }

  deinit {
    let descriptor = descriptor
    // Closing a file that was unlinked frees its blocks.
    if !pool.run({ close(descriptor) }) { close(descriptor) }
  }

  /// Bytes of the file.
  var size: Int { state.withLock { $0.end } }
  /// Bytes of records that still count, as far as is known.
  var live: Int { state.withLock { $0.live } }
  var isSealed: Bool { state.withLock { $0.isSealed } }
  /// Wall clock, seconds.
  var lastWritten: Int64 { state.withLock { $0.lastWritten } }

  /// No more records come.
  func seal() { state.withLock { $0.isSealed = true } }

  /// Whether it is full, and nobody empties it.
  var isToGo: Bool { state.withLock { $0.isSealed && !$0.isDropped } }

  /// It is being emptied: `false` for a second one.
  func beginDropping() -> Bool {
    state.withLock { state in
      defer { state.isDropped = true }
      return !state.isDropped
    }
  }

  /// It stays, after all.
  func endDropping() { state.withLock { $0.isDropped = false } }

  /// Whether something was written since this was asked last.
  func takeDirt() -> Bool {
    state.withLock { state in
      defer { state.isDirty = false }
      return state.isDirty
    }
  }

  /// At the start: what was found in it.
  /// - Parameter isCounted: `false`: some of that may not count any more.
  func noteFound(live: Int, lastWritten: Int64, isCounted: Bool) {
    state.withLock { ($0.live, $0.lastWritten, $0.isCounted) = (live, lastWritten, isCounted) }
  }

  /// Whether ``live`` is what counts, and no more.
  var isCounted: Bool { state.withLock { $0.isCounted } }

  /// So many bytes of records counted a moment ago.
  func noteCounted(_ bytes: Int) {
    state.withLock { ($0.live, $0.isCounted) = (min($0.live, bytes), true) }
  }

  func noteDirt() { state.withLock { $0.isDirty = true } }

  private static let padding = [UInt8](repeating: 0, count: PackPlace.unit)

  /// Writes a record behind the last one. By one writer at a time; into the page cache.
  /// - Parameters:
  ///   - front: what stands before its content.
  ///   - content: is padded here; may be empty where all of it stands in `front`.
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
      // What there is of it is nothing. Where this fails, too, the next record takes its place, and each record proves itself.
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

  /// Marks a record as one that does not count any more; one that was marked before stays so. Into the page cache.
  /// - Parameter waits: for the disk: never on a loop.
  /// - Returns: `false` where the disk would have to be waited for.
  func kill(_ place: PackPlace, waits: Bool) throws(StoreError) -> Bool {
    // From the disk before anybody is kept waiting.
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

  /// A record does not count any more.
  private func noteGone(_ place: PackPlace) {
    state.withLock { state in
      state.live -= min(place.size, state.live)
      state.isDirty = true
    }
  }

  /// What a read came to.
  enum Reading {
    case bytes([UInt8])
    /// The disk would have to be waited for.
    case wouldWait
    case failed(StoreError)
  }

  /// - Parameter waits: for the disk: never on a loop.
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
        // Where the file system knows no such reads, too: the pool reads.
        isThere = read == size
        count = max(0, read)
      }
    }
    if let failure { return .failed(failure) }
    return isThere ? .bytes(bytes) : .wouldWait
  }
}
