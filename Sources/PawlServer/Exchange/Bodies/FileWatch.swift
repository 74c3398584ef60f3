import PawlCacheStore
import PawlLoop

/// The result of checking a file before more of its run is sent.
enum FileLook: Hashable {
  case same
  /// The rest of the run cannot be trusted any more.
  case changed
  /// Bytes on their way to the client may be wrong already.
  case spoilt
}

/// Watches the file from which one answer is sent, for changes that pawl did not make itself to this body.
struct FileWatch {
  /// The most bytes that may be in flight, in the socket buffers of both ends.
  static let inFlight: UInt64 = 16 << 20

  private let body: StoredBody
  /// The first byte of the answer.
  private let start: UInt64
  /// The number of changes that ``look(at:isCopied:now:)`` has reported.
  private var told: UInt64
  /// The number of changes at the time when the present run began.
  private var current: UInt64

  init(_ body: StoredBody, from start: UInt64) {
    (self.body, self.start) = (body, start)
    told = body.fileChange.count
    current = told
  }

  /// Notes that the sending of a new run begins. The bytes of the run were checked in the file's present state.
  mutating func gave() { current = body.fileChange.count }

  /// Checks the file before more of a run is sent.
  /// - Parameters:
  ///   - offset: the beginning of the rest of the run.
  ///   - isCopied: whether the bytes that were already sent were copied, so that a change of the file cannot change them.
  mutating func look(at offset: UInt64, isCopied: Bool, now: Monotonic) -> FileLook {
    _ = body.isUntouched(now: now)
    let change = body.fileChange
    guard change.count != told else { return .same }
    let isOnlyOne = change.count == told + 1
    told = change.count
    let sent = max(start, offset - min(offset, Self.inFlight))..<max(start, offset)
    if !isCopied, !sent.isEmpty, !isOnlyOne || change.spoils(sent) { return .spoilt }
    return change.count == current ? .same : .changed
  }
}
