import PawlHTTP
import PawlLoop

/// An answer that lasts as long as its client listens, or a tunnel: it gives its place back to those who wait for one.
extension OriginExchange {
  /// From now on it counts against `max-live-connections`, and a dead peer is found by the kernel's probes alone: silence says nothing.
  /// - Returns: `false` where there are too many; it has failed then.
  func becomeLive(on connection: OriginConnection) -> Bool {
    guard !isLive else { return true }
    guard upstream.takeLive(request.holder) else {
      fail(ProxyError(.connectionLimitReached, details: "max-live-connections are in use"))
      return false
    }
    connection.stream.probePeer()
    givePlaceBack(nil)
    isLive = true
    return true
  }

  /// The one that it has, in whichever count.
  /// - Parameter connection: stays, where it can carry another exchange.
  func givePlaceBack(_ connection: OriginConnection?) {
    guard isLive else { return pool.ended(place, reusable: connection) }
    isLive = false
    upstream.giveBackLive(request.holder)
    connection?.stream.close()
  }
}
