/// How a revalidation failed.
package enum ValidationFailure: Hashable, Sendable {
  /// There was no response: the connection was refused, timed out, or closed before a head.
  case disconnected
  case status(Int)
}

/// Whether a stale response is sent because its revalidation failed.
///
/// If the origin did not respond, a stored response is sent if it was fresh once, unless it forbids stale use or its
/// `stale-if-error` is over (RFC 9111 §4.2.4). After a 500, 502, 503 or 504 it is sent within `stale-if-error` of the stored
/// response, or else of the route (RFC 5861 §4). A response that was never fresh, and is kept only for resumption, is sent only
/// where one of these two times allows it.
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
    // A response without `stale-if-error` must have been fresh once, or the route's `stale-if-error` must allow its use.
    return freshness.lifetime > 0 || (policy.staleIfError > 0 && freshness.staleness <= policy.staleIfError)
  case .status(500), .status(502), .status(503), .status(504):
    let window = control.staleIfError ?? policy.staleIfError
    return window > 0 && freshness.staleness <= window
  case .status: return false
  }
}
