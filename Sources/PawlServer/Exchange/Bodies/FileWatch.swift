import PawlCacheStore
import PawlLoop

/// What a look at the file behind a run shows before the run goes on.
enum FileLook: Hashable {
  case same
  /// What is left of the run cannot be trusted any more.
  case changed
  /// What is on its way to the client may be wrong already.
  case spoilt
}

/// Watches, for one answer, over the file that it is sent from.
struct FileWatch {
  /// What may be between the file and the client at one time, in bytes: in the buffers of both ends.
  static let inFlight: UInt64 = 16 << 20

  private let body: StoredBody
  /// Where the answer began.
  private let start: UInt64
  /// Changes that were told of.
  private var told: UInt64
  /// Changes that the run which is being sent was read back after.
  private var current: UInt64

  init(_ body: StoredBody, from start: UInt64) {
    (self.body, self.start) = (body, start)
    told = body.fileChange.count
    current = told
  }

  /// A run is given out: its bytes were proven as the file is now.
  mutating func gave() { current = body.fileChange.count }

  /// - Parameters:
  ///   - offset: where what is left of the run begins.
  ///   - isCopied: what was sent before was copied, so that no change of the file reaches it.
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
