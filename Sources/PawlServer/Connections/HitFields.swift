import PawlCacheStore

/// The response fields of a hit on the hot path that differ between answers, in every version of HTTP. The fields are written
/// in this order; `X-Request-Id` follows if the request had no such field.
struct HitFields {
  /// `Date`; `nil` if the stored response has this field.
  let date: [UInt8]?
  /// `Strict-Transport-Security`; `nil` without TLS, or if the route does not set the field.
  let strictTransport: [UInt8]?
  /// `Age`, in seconds.
  let age: UInt64
  /// The beginning of the value of `Cache-Status` (RFC 9211). ``timeToLive`` follows: the seconds for which the response stays
  /// fresh.
  @inline(__always) static var cacheStatus: StaticString { "pawl; hit; ttl=" }
  /// The end of the previous line, the field name and ``cacheStatus`` in one text, so that one call appends them.
  @inline(__always) static var cacheStatusLine: StaticString { "\r\nCache-Status: pawl; hit; ttl=" }
  let timeToLive: UInt64

  init(_ hit: PackedHit, _ route: RouteSettings, _ facts: ClientFacts, _ connections: LoopConnections) {
    let now = connections.services.loop.wallSeconds
    date = HotAnswer.hasDate(hit) ? nil : connections.dateField
    strictTransport = facts.isSecure ? route.strictTransport : nil
    age = UInt64(max(0, now - hit.born))
    timeToLive = UInt64(max(0, hit.until - now))
  }

  @inline(__always) init(_ hot: HotResponse, _ facts: ClientFacts, _ connections: LoopConnections) {
    date = hot.answer.hasDate ? nil : connections.dateField
    strictTransport = facts.isSecure ? hot.route.strictTransport : nil
    age = UInt64(max(0, hot.now - hot.answer.bornAt))
    timeToLive = UInt64(hot.answer.freshUntil - hot.now)
  }
}
