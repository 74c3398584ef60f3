/// How a validation failed.
package enum ValidationFailure: Hashable, Sendable {
  /// No answer: refused, timed out, closed before a head.
  case disconnected
  case status(Int)
}

/// Whether a stale response is given out because the origin cannot say anything better.
///
/// Without an answer: whatever was fresh once, unless the response forbids it or its `stale-if-error` is over (RFC 9111 §4.2.4).
/// For 500, 502, 503 and 504: within `stale-if-error`, the response's or else the route's (RFC 5861 §4). A response that was
/// never fresh, and is kept for resumption only, is given out for this only where one of the two says so.
/// - Parameter now: wall clock, seconds since 1970.
package func mayServeStaleOnError(
  _ head: StoredHead, policy: CachePolicy, now: Int64, failure: ValidationFailure
) -> Bool {
  let control = head.cacheControl
  guard !forbidsStale(control, unlessItSays: control.staleIfError != nil) else { return false }
  let freshness = Freshness.evaluate(head, policy: policy, now: now)
  switch failure {
  case .disconnected:
    if let window = control.staleIfError { return freshness.staleness <= window }
    // Without a word about errors, only what once was fresh may stand in for an origin that is not there.
    return freshness.lifetime > 0 || (policy.staleIfError > 0 && freshness.staleness <= policy.staleIfError)
  case .status(500), .status(502), .status(503), .status(504):
    let window = control.staleIfError ?? policy.staleIfError
    return window > 0 && freshness.staleness <= window
  case .status: return false
  }
}
