import PawlCache
import PawlHTTP
import PawlObserve

extension OriginDefect {
  /// Finds what is wrong with the response to a resumption request, besides the break before it; `nil`: nothing, or nothing that
  /// is certain.
  /// - Parameters:
  ///   - verdict: what was decided about the response.
  ///   - isOtherNode: whether it comes from a node that did not send the earlier bytes. Such a node may have validators of its
  ///     own, so its complete response proves nothing about the range.
  init?(
    _ head: ResponseHead, asked: ResumeDecision, _ verdict: Continuation, of identity: RepresentationIdentity,
    isOtherNode: Bool
  ) {
    guard case .askForRest(let from, _, _) = asked else { return nil }
    switch (head.status, verdict) {
    // The validator still holds, so the condition of the range did, too.
    case (200, .replay), (200, .rangesRefused):
      guard !isOtherNode, identity.isNamedStrongly(by: head) else { return nil }
      self = .rangeIgnored
    case (206, .rangesRefused):
      guard RepresentationIdentity.rangeStart(of: head) != from else { return nil }
      self = .rangeShifted
    default: return nil
    }
  }
}

/// Why a fetch broke off, for the metrics.
enum FetchBreak {
  /// Returns the counter of resumptions after a break with this word of the event log (``FetchAttempts/failure``).
  static func counter(of failure: String) -> LoopCounter {
    if failure == "ended-early" || failure == "shorter-than-before" { return .resumedAfterEarlyEnd }
    if failure.hasPrefix("status-") { return .resumedAfterStatus }
    if failure.hasPrefix("content-differs") || ContentChange(rawValue: failure) != nil {
      return .resumedAfterDifference
    }
    return switch ProxyError.Kind(rawValue: failure).map(OriginFailureKind.init) {
    case .closed?: .resumedAfterReset
    case .incomplete?: .resumedAfterEarlyEnd
    case .timeout?: .resumedAfterTimeout
    case .dns?, .refused?, .unreachable?, .queue?: .resumedAfterConnect
    case .tls?: .resumedAfterTLS
    case .malformed?, .other?, nil: .resumedAfterOther
    }
  }
}
