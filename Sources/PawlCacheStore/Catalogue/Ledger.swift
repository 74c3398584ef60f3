import CLinux
import PawlBase
import PawlDisk
import PawlLoop

/// What readers may have been given of a body and the catalogue does not know yet. Each record is written behind the bytes that it is
/// about and before any reader sees them, into the page cache: it costs no wait for the disk, and outlives the process. It checks itself,
/// and says what the bytes hash to, so that whatever else was lost shows.
///
/// The file is two halves of a size that never changes. One is written to until the catalogue has what stands in the other.
final class Ledger: Sendable {
  /// Bytes of one half: some 65,000 records. What finds no room is recorded by the catalogue alone, a little later.
  static let half = 4 << 20
  static let name = "/ledger"

  private struct State {
    var current = 0
    var ends = [0, 0]
    /// Writers whose records are not among the catalogue's changes yet.
    var writing = [0, 0]
    var other = LedgerHalf.spare
    var sequence: UInt64
    var toldSequence: UInt64
    var gap = LedgerGap.none
  }

  /// A writer's place; see ``end(_:)``.
  struct Writing { fileprivate let half: Int }

  private let descriptor: CInt
  private let state: Locked<State>

  /// - Parameter sequence: the highest that was ever given, or more.
  /// - Throws: where the file cannot be made: then there is none.
  init(in directory: String, sequence: UInt64) throws(StoreError) {
    let path = directory + Self.name
    descriptor = try Files.open(path, O_RDWR | O_CREAT | O_NOFOLLOW)
    state = Locked(State(sequence: sequence, toldSequence: sequence))
    // Numbers of objects are given anew after a start: what stood here is the catalogue's by now.
    guard ftruncate(descriptor, 0) == 0 else { throw Files.failure("ftruncate", path) }
    // Its room is there before it is needed: a full disk takes nothing from what was promised.
    let code = posix_fallocate(descriptor, 0, off_t(2 * Self.half))
    if code != 0 { throw code == ENOSPC ? .full : .system(call: "posix_fallocate", path: path, errno: code) }
  }

  deinit { close(descriptor) }

  /// Writes records, each padded to whole units. `nil` where there is no room, or they cannot be written.
  /// - Parameter make: makes them of the first sequence number they have.
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

  /// The catalogue was told of what was written.
  func end(_ writing: Writing) { state.withLock { $0.writing[writing.half] -= 1 } }

  // MARK: On the catalogue's thread

  /// A batch is about to be taken: what was submitted before is in it, or was in an earlier one.
  /// - Returns: what the catalogue knows with it.
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

  /// That batch is committed.
  func batchIsCommitted() {
    state.withLock { state in
      state.other.batchIsCommitted()
      guard state.ends[state.current] >= Self.half / 4, state.other.take() else { return }
      state.current = 1 - state.current
      state.ends[state.current] = 0
    }
  }

  /// The name under which the catalogue knows up to where it has what is in here.
  static let sequenceName = "ledger"
  /// The name under which it knows whether something is missing in here.
  static let gapName = "ledger_gap"
}

/// The half of the ledger that is not written to.
enum LedgerHalf: UInt8, Hashable, CaseIterable {
  /// The catalogue may lack some of it.
  case needed
  /// The batch under way has all of it.
  case drained
  /// It may be written to.
  case spare

  /// - Parameter isWritten: somebody's records in it are not among the catalogue's changes yet.
  mutating func batchBegins(isWritten: Bool) { if self != .spare { self = isWritten ? .needed : .drained } }

  mutating func batchIsCommitted() { if self == .drained { self = .spare } }

  /// It becomes the one that is written to, and the other stands in its place; `false`: it is still needed.
  mutating func take() -> Bool {
    guard self == .spare else { return false }
    self = .needed
    return true
  }
}

/// Whether something found no room in the ledger, or could not be written.
enum LedgerGap: UInt8, Hashable, CaseIterable {
  case none, found
  /// The catalogue knows.
  case told

  mutating func appeared() { if self == .none { self = .found } }

  /// - Returns: whether the catalogue has to be told now.
  mutating func tell() -> Bool {
    guard self == .found else { return false }
    self = .told
    return true
  }
}
