import PawlCache
import PawlCacheStore

/// Bytes that were held, and were found damaged or gone: how they come again. By range where the origin can; else with the
/// whole body from its first byte on, which is compared with what was held. They count only with the digests that were recorded.
extension FillCoordinator {
  /// Whether nothing is missing of this response, or only what was held and can come again in its place. Where that is most of
  /// it, only for a client that holds a part of it (`isNamed`): for others it is fetched anew, and they get that, whatever has
  /// become of it at the origin.
  static func canMend(_ response: StoredResponse, isNamed: Bool = false) -> Bool {
    let body = response.body
    if body.isComplete { return true }
    guard response.supersededAt == nil, body.isProvable, let total = body.total else { return false }
    return isNamed || body.lostCount <= total / 2
  }

  /// Decides for a reader that lacks what is lost.
  /// - Parameter lost: from the segment that it has come to on.
  func need(_ lost: Range<UInt64>, through end: UInt64, joinedAt failures: Int) -> Need {
    let canRange = canFetchRanges
    let proven = canRange ? lost.upperBound : body.replayProof().end
    let run = body.wideningToSegments(lost.lowerBound..<max(lost.lowerBound + 1, min(lost.upperBound, end)))
    return state.withLock { state in
      // Others have passed by it.
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
