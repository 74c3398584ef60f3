package import PawlHTTP

/// What a stored response that a request selects may be used for (RFC 9111 §4).
package enum Reuse: Hashable, Sendable {
  case fresh(Freshness)
  /// The response may be used only after a revalidation.
  case validate
  /// Stale, and the request accepts that (`max-stale`).
  case staleAllowed(Freshness)
  /// Stale, and used while one revalidation runs in the background (RFC 5861 §3).
  case staleWhileRevalidate(Freshness)

  /// - Parameter now: wall clock, seconds since 1970.
  package static func decide(_ head: StoredHead, request: RequestHead, policy: CachePolicy, now: Int64) -> Reuse {
    decide(head, asked: request.fields, policy: policy, now: now)
  }

  /// - Parameter fields: the request's.
  package static func decide(_ head: StoredHead, asked fields: Fields, policy: CachePolicy, now: Int64) -> Reuse {
    let asked = CacheControl(fields)
    if head.cacheControl.noCache || asked.noCache || hasPragmaNoCache(fields) { return .validate }
    let freshness = Freshness.evaluate(head, policy: policy, now: now)
    if let limit = asked.maxAge {
      // A reload in the browser does not revalidate a response that its origin calls immutable (RFC 8246 §2).
      let isExempt = head.cacheControl.immutable && freshness.isFresh
      if !isExempt, limit == 0 || freshness.age > limit { return .validate }
    }
    if let margin = asked.minFresh, freshness.ttl < margin { return .validate }
    if freshness.isFresh { return .fresh(freshness) }
    if let limit = asked.maxStale, freshness.staleness <= limit, !forbidsStale(head.cacheControl) {
      return .staleAllowed(freshness)
    }
    if let window = head.cacheControl.staleWhileRevalidate, freshness.staleness <= window,
      !forbidsStale(head.cacheControl, unlessItSays: true)
    {
      return .staleWhileRevalidate(freshness)
    }
    return .validate
  }

  /// Whether a request has `Pragma: no-cache` and no `Cache-Control` (RFC 9111 §5.4). Any other pragma is ignored.
  package static func hasPragmaNoCache(_ fields: Fields) -> Bool {
    guard fields.contains(.pragma), !fields.contains(.cacheControl), let pragma = fields.combined(.pragma) else {
      return false
    }
    return pragma.split(separator: 0x2c).contains { $0.trimmed.equalsIgnoringCase("no-cache") }
  }
}

/// Whether a response must not be used stale (RFC 9111 §4.2.4). `s-maxage` implies `proxy-revalidate` (§5.2.2.10), unless the
/// same response allows stale use explicitly: `s-maxage=60, stale-if-error=600` is a common and deliberate pair.
func forbidsStale(_ control: CacheControl, unlessItSays isExplicit: Bool = false) -> Bool {
  control.noCache || control.mustRevalidate || control.proxyRevalidate || (control.sMaxAge != nil && !isExplicit)
}

extension StoredHead {
  /// Whether a client may get further ranges without another revalidation, for a few seconds after the origin confirmed this
  /// response for that client. A media player that seeks, or reads in pieces, sends many such requests. `false` where the origin
  /// requires a revalidation before each use.
  package var allowsSeeking: Bool { status == 200 && !forbidsStale(cacheControl) }
}
