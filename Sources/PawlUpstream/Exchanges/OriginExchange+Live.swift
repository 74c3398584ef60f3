import PawlHTTP
import PawlLoop

/// Long-lived exchanges: event streams and tunnels. They give their place back, so that other requests need not wait for it.
extension OriginExchange {
  /// The details of the error at the limit of `max-live-connections`.
  package static let liveLimitDetails = "max-live-connections are in use"

  /// Makes the exchange long-lived, so that it counts against `max-live-connections` from now on. There is no timeout for silence
  /// any more; only the kernel's keep-alive probes find a dead peer.
  /// - Returns: `false` if there are too many long-lived exchanges; this exchange has failed then.
  func becomeLive(on connection: OriginConnection) -> Bool {
    guard !isLive else { return true }
    guard upstream.takeLive(request.holder) else {
      fail(ProxyError(.connectionLimitReached, details: Self.liveLimitDetails))
      return false
    }
    connection.stream.probePeer()
    givePlaceBack(nil)
    isLive = true
    return true
  }

  /// Gives back the place this exchange holds: below `max-connections`, or below `max-live-connections` if it is long-lived
  /// (``isLive``).
  /// - Parameter connection: kept idle for another exchange if it is usable; the connection of a long-lived exchange is closed.
  func givePlaceBack(_ connection: OriginConnection?) {
    guard isLive else { return pool.ended(place, reusable: connection) }
    isLive = false
    upstream.giveBackLive(request.holder)
    connection?.stream.close()
  }
}
