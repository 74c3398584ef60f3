import PawlCache
import PawlCacheStore

/// Fetches bytes again that were held and were found damaged or gone. This is done by range if the origin has ranges; otherwise with the
/// whole body from its first byte on, which is compared with the held bytes. New bytes count only if they match their recorded digests.
extension FillCoordinator {
  /// Whether the response lacks nothing, or only bytes that were held and can be fetched again in their place. If most of it is lost,
  /// that is done only for a client that holds a part of it (`isNamed`). For other clients it is fetched anew, and they get what the
  /// origin has now.
  static func canMend(_ response: StoredResponse, isNamed: Bool = false) -> Bool {
    let body = response.body
    if body.isComplete { return true }
    guard response.supersededAt == nil, body.isProvable, let total = body.total else { return false }
    return isNamed || body.lostCount <= total / 2
  }

  /// Decides for a reader that lacks lost bytes.
  /// - Parameter lost: the lost bytes, from the segment on at which the reader is.
  func need(_ lost: Range<UInt64>, through end: UInt64, joinedAt failures: Int) -> Need {
    let canRange = canFetchRanges
    let proven = canRange ? lost.upperBound : body.replayProof().end
    let run = body.wideningToSegments(lost.lowerBound..<max(lost.lowerBound + 1, min(lost.upperBound, end)))
    return state.withLock { state in
      // Other spans pass the lost bytes by.
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
