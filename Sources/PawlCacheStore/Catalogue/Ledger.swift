import CLinux
import PawlBase
import PawlDisk
import PawlLoop

/// The file with records of bytes that readers may have got, and that the catalogue may not have recorded yet. Each record is
/// written into the page cache, after the bytes that it describes and before a reader gets them. So writing does not wait for the
/// disk, and the record survives a `kill -9` of the process. Each record has a checksum, and the digest of the bytes that it
/// describes, so that other losses (after a power failure, for example) are detected.
///
/// The file has two halves of a fixed size. One is written to until the catalogue has everything that is in the other.
final class Ledger: Sendable {
  /// The size of one half in bytes: about 65,000 records. What does not fit is recorded by the catalogue only, a little later.
  static let half = 4 << 20
  static let name = "/ledger"

  private struct State {
    var current = 0
    var ends = [0, 0]
    /// For each half, the number of writes whose records are not among the changes of the catalogue yet.
    var writing = [0, 0]
    var other = LedgerHalf.spare
    var sequence: UInt64
    var toldSequence: UInt64
    var gap = LedgerGap.none
  }

  /// A write to one half that was begun by ``append(_:bytes:_:)`` and has to be ended by ``end(_:)``.
  struct Writing { fileprivate let half: Int }

  private let descriptor: CInt
  private let state: Locked<State>

  /// Opens the ledger and empties it.
  /// - Parameter sequence: the highest sequence number so far, or a higher one.
  /// - Throws: if the file cannot be made. Then there is no ledger.
  init(in directory: String, sequence: UInt64) throws(StoreError) {
    let path = directory + Self.name
    descriptor = try Files.open(path, O_RDWR | O_CREAT | O_NOFOLLOW)
    state = Locked(State(sequence: sequence, toldSequence: sequence))
    // The catalogue has all that was in the ledger by now. Old records must not stay, because numbers of objects may be used
    // again after a restart of pawl.
    guard ftruncate(descriptor, 0) == 0 else { throw Files.failure("ftruncate", path) }
    // The space is allocated in advance, so that a full disk cannot stop the ledger.
    let code = posix_fallocate(descriptor, 0, off_t(2 * Self.half))
    if code != 0 { throw code == ENOSPC ? .full : .system(call: "posix_fallocate", path: path, errno: code) }
  }

  deinit { close(descriptor) }

  /// Writes records, each padded to complete units. Returns `nil` if there is no space, or if the write fails.
  /// - Parameter make: makes the bytes of the records from the sequence number of the first one.
  func append(_ count: Int, bytes: Int, _ make: (UInt64) -> [UInt8]) -> Writing? {
    let place = state.withLock { state -> (half: Int, offset: Int, sequence: UInt64)? in
      let (half, end) = (state.current, state.ends[state.current])
      guard end + bytes <= Self.half else {
        state.gap.appeared()
        return nil
      }
      state.ends[half] = end + bytes
      state.writing[half] += 1
      defer { state.sequence += UInt64(count) }
      return (half, half * Self.half + end, state.sequence + 1)
    }
    guard let place else { return nil }
    let record = make(place.sequence)
    let isWritten = record.withUnsafeBytes { bytes in
      do throws(StoreError) {
        try Files.writeAll(descriptor, bytes, at: UInt64(place.offset))
        return true
      } catch {
        return false
      }
    }
    let writing = Writing(half: place.half)
    guard isWritten else {
      state.withLock { $0.gap.appeared() }
      end(writing)
      return nil
    }
    return writing
  }

  /// Ends a write, after the catalogue was notified of what the records describe.
  func end(_ writing: Writing) { state.withLock { $0.writing[writing.half] -= 1 } }

  // MARK: On the catalogue's thread

  /// Notes that the catalogue begins a batch (the changes of one commit). All changes that were submitted earlier are in this
  /// batch or in an earlier one.
  /// - Returns: the changes that record up to which sequence number the catalogue has the ledger's records.
  func batchBegins() -> [CatalogueChange] {
    state.withLock { state in
      state.other.batchBegins(isWritten: state.writing[1 - state.current] > 0)
      var changes: [CatalogueChange] = []
      if state.sequence > state.toldSequence {
        changes.append(.meta(Self.sequenceName, Int64(clamping: state.sequence)))
      }
      if state.gap.tell() { changes.append(.meta(Self.gapName, 1)) }
      state.toldSequence = state.sequence
      return changes
    }
  }

  /// Notes that the batch is committed, and switches to the other half if the current one is a quarter full and the other is not
  /// needed.
  func batchIsCommitted() {
    state.withLock { state in
      state.other.batchIsCommitted()
      guard state.ends[state.current] >= Self.half / 4, state.other.take() else { return }
      state.current = 1 - state.current
      state.ends[state.current] = 0
    }
  }

  /// The name of the row in `meta` that says up to which sequence number the catalogue has the ledger's records.
  static let sequenceName = "ledger"
  /// The name of the row in `meta` that says whether a record is missing in the ledger.
  static let gapName = "ledger_gap"
}

/// The state of the half of the ledger that is not written to.
enum LedgerHalf: UInt8, Hashable, CaseIterable {
  /// The catalogue may not have all of its records.
  case needed
  /// The catalogue has all of its records when the running batch is committed.
  case drained
  /// The catalogue has all of its records, so the half may be written to.
  case spare

  /// - Parameter isWritten: whether some of its records are not among the catalogue's changes yet.
  mutating func batchBegins(isWritten: Bool) { if self != .spare { self = isWritten ? .needed : .drained } }

  mutating func batchIsCommitted() { if self == .drained { self = .spare } }

  /// Notes that this half is written to from now on. The value then describes the other half.
  /// - Returns: `false` if this half is still needed.
  mutating func take() -> Bool {
    guard self == .spare else { return false }
    self = .needed
    return true
  }
}

/// Whether a record is missing in the ledger, because there was no space or the write failed.
enum LedgerGap: UInt8, Hashable, CaseIterable {
  case none, found
  /// The catalogue was notified.
  case told

  mutating func appeared() { if self == .none { self = .found } }

  /// Notes that the catalogue is notified of the gap now.
  /// - Returns: whether the catalogue has to be notified.
  mutating func tell() -> Bool {
    guard self == .found else { return false }
    self = .told
    return true
  }
}
