import PawlCache
import PawlCacheStore

/// Fetches bytes again that were held, but were found damaged or missing. A range brings them if the origin has ranges. Otherwise the
/// complete body is fetched from its first byte on, and compared with the held bytes. New bytes count only if they match the digests that
/// were recorded.
extension FillCoordinator {
  /// Whether the body is complete, or lacks only bytes that were held before and can be fetched again. If more than half of the body is
  /// lost, it is mended only for a client that holds a part of it (`isNamed`). For other clients the body is fetched anew, and they get
  /// what the origin has now.
  static func canMend(_ response: StoredResponse, isNamed: Bool = false) -> Bool {
    let body = response.body
    if body.isComplete { return true }
    guard response.supersededAt == nil, body.isProvable, let total = body.total else { return false }
    return isNamed || body.lostCount <= total / 2
  }

  /// Decides how a reader gets lost bytes that it needs.
  /// - Parameter lost: the lost bytes, beginning with the segment at which the reader is.
  func need(_ lost: Range<UInt64>, through end: UInt64, joinedAt failures: Int) -> Need {
    let canRange = canFetchRanges
    let proven = canRange ? lost.upperBound : body.replayProof().end
    let run = body.wideningToSegments(lost.lowerBound..<max(lost.lowerBound + 1, min(lost.upperBound, end)))
    return state.withLock { state in
      // Only a span that mends brings lost bytes; other spans skip them.
      let isComing = state.spans.contains { span in
        span.mends && span.start <= lost.lowerBound && lost.lowerBound < span.end ?? .max
      }
      if isComing { return .wait }
      if state.failures > failures {
        return .fail(state.failure ?? BodyEnd(party: .origin, reason: "failed"))
      }
      guard state.spans.count < Self.spanLimit else { return .wait }
      if canRange { return .fetch(run) }
      guard proven > lost.lowerBound else {
        return .fail(BodyEnd(party: .origin, reason: "rest-cannot-be-proven"))
      }
      return .replay(0..<proven)
    }
  }
}
