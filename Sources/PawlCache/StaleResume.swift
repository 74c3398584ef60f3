package import PawlHTTP

/// What stands between a client that holds the first part of stored bytes and the rest of them.
package enum StaleResume: Hashable, Sendable {
  /// Nothing: give the rest.
  case serve
  /// The origin is asked whether they are still right, by the validator it gave.
  case validate
  /// The origin gave no validator: what it sends now is compared with them.
  case compare
}

/// How a `Range` is answered whose `If-Range` matches a tag of stored bytes that may not be reused by freshness
/// (`resume-ttl` in the configuration).
///
/// Stale bytes that nothing but their own tag names are the only ones that can complete what the client holds; for a while
/// they are given without asking. Where the origin gave a validator, asking costs one short answer.
///
/// - Parameters:
///   - givenAt: when a client was last told this tag: wall clock, seconds since 1970. ``StoredHead/responseTime`` at least.
///   - now: wall clock, seconds since 1970.
package func decideStaleResume(
  _ head: StoredHead, request: RequestHead, givenAt: Int64, policy: CachePolicy, now: Int64
) -> StaleResume {
  if head.canBeValidated { return .validate }
  let control = head.cacheControl
  let asked = CacheControl(request.fields)
  let isForbidden = control.noCache || control.noStore || control.mustRevalidate
  guard !isForbidden, !asked.noCache, asked.maxAge != 0, !Reuse.hasPragmaNoCache(request.fields) else {
    return .compare
  }
  return now.clampedDifference(givenAt) < policy.resumeTTL ? .serve : .compare
}
