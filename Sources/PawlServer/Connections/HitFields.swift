import PawlCacheStore

/// What the head of a hit that made no request says besides what is the same in each answer; whatever version of HTTP it goes
/// out over. Each writes them in this order, and behind them the identifier of a request that brought none.
struct HitFields {
  /// `Date`, where the origin gave none.
  let date: [UInt8]?
  /// `Strict-Transport-Security`, over TLS.
  let strictTransport: [UInt8]?
  /// `Age`, in seconds.
  let age: UInt64
  /// `Cache-Status`, before the seconds that it is still fresh, and those.
  @inline(__always) static var cacheStatus: StaticString { "pawl; hit; ttl=" }
  /// The same behind its name, and that behind the end of a line: one run of bytes.
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
