import CLinux
import PawlBase
import PawlDisk
import PawlLoop

/// The file that records what readers may have got of a body before the catalogue has it. Each record is written after the bytes
/// that it describes and before a reader gets them, into the page cache. So it does not wait for the disk, and survives the end
/// of the process. Each record has a check, and the digests of the bytes, so that other losses are detected.
///
/// The file has two halves of a fixed size. One is written to until the catalogue has everything that is in the other.
final class Ledger: Sendable {
  /// The size of one half in bytes: about 65,000 records. Records for which it has no room are made by the catalogue only, a
  /// little later.
  static let half = 4 << 20
  static let name = "/ledger"

  private struct State {
    var current = 0
    var ends = [0, 0]
    /// The number of writers, for each half, whose records are not among the catalogue's changes yet.
    var writing = [0, 0]
    var other = LedgerHalf.spare
    var sequence: UInt64
    var toldSequence: UInt64
    var gap = LedgerGap.none
  }

  /// A write that is running, in one half; ended by ``end(_:)``.
  struct Writing { fileprivate let half: Int }

  private let descriptor: CInt
  private let state: Locked<State>

  /// Opens the ledger and empties it.
  /// - Parameter sequence: the highest sequence number so far, or a higher one.
  /// - Throws: if the file cannot be made: then there is no ledger.
  init(in directory: String, sequence: UInt64) throws(StoreError) {
    let path = directory + Self.name
    descriptor = try Files.open(path, O_RDWR | O_CREAT | O_NOFOLLOW)
    state = Locked(State(sequence: sequence, toldSequence: sequence))
    // Numbers of objects may be used again after a start. The catalogue has by now what was here.
    guard ftruncate(descriptor, 0) == 0 else { throw Files.failure("ftruncate", path) }
    // The space is allocated ahead, so that a full disk cannot stop the ledger.
    let code = posix_fallocate(descriptor, 0, off_t(2 * Self.half))
    if code != 0 { throw code == ENOSPC ? .full : .system(call: "posix_fallocate", path: path, errno: code) }
  }

  deinit { close(descriptor) }

  /// Writes records, each padded to whole units. `nil` if there is no room, or they cannot be written.
  /// - Parameter make: makes their bytes from the sequence number of the first.
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

  /// Ends a write: the catalogue was told of what it describes.
  func end(_ writing: Writing) { state.withLock { $0.writing[writing.half] -= 1 } }

  // MARK: On the catalogue's thread

  /// Notes that the catalogue takes a batch: all that was submitted before is in it or in an earlier one.
  /// - Returns: the changes that record in the catalogue how far it has the ledger's records.
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

  /// Notes that the batch is committed, and changes to the other half if the current one is a quarter full and the other is not
  /// needed.
  func batchIsCommitted() {
    state.withLock { state in
      state.other.batchIsCommitted()
      guard state.ends[state.current] >= Self.half / 4, state.other.take() else { return }
      state.current = 1 - state.current
      state.ends[state.current] = 0
    }
  }

  /// The name of the row in `meta` with the highest sequence number whose record the catalogue has.
  static let sequenceName = "ledger"
  /// The name of the row in `meta` that says whether a record is missing in the ledger.
  static let gapName = "ledger_gap"
}

/// The state of the half of the ledger that is not written to.
enum LedgerHalf: UInt8, Hashable, CaseIterable {
  /// The catalogue may lack some of it.
  case needed
  /// The running batch has all of it.
  case drained
  /// The catalogue has all of it, so it may be written to.
  case spare

  /// - Parameter isWritten: whether records in it are not among the catalogue's changes yet.
  mutating func batchBegins(isWritten: Bool) { if self != .spare { self = isWritten ? .needed : .drained } }

  mutating func batchIsCommitted() { if self == .drained { self = .spare } }

  /// Makes this half the one that is written to; the other one takes its place here.
  /// - Returns: `false` if it is still needed.
  mutating func take() -> Bool {
    guard self == .spare else { return false }
    self = .needed
    return true
  }
}

/// Whether a record found no room in the ledger or could not be written.
enum LedgerGap: UInt8, Hashable, CaseIterable {
  case none, found
  /// The catalogue was told.
  case told

  mutating func appeared() { if self == .none { self = .found } }

  /// Marks the gap as told to the catalogue.
  /// - Returns: whether the catalogue has to be told now.
  mutating func tell() -> Bool {
    guard self == .found else { return false }
    self = .told
    return true
  }
}
