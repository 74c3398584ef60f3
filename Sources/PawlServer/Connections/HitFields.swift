import PawlCacheStore

/// The response fields of a hit on the hot path that differ between answers, in every version of HTTP. They are written in this
/// order, then the request identifier where the request had none.
struct HitFields {
  /// `Date`; `nil` where the stored response has one.
  let date: [UInt8]?
  /// `Strict-Transport-Security`; `nil` without TLS.
  let strictTransport: [UInt8]?
  /// `Age`, in seconds.
  let age: UInt64
  /// The value of `Cache-Status` (RFC 9211), to be followed by ``timeToLive``: the seconds for which the response stays fresh.
  @inline(__always) static var cacheStatus: StaticString { "pawl; hit; ttl=" }
  /// The end of the line before, the field name and the same value: one run of bytes.
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
