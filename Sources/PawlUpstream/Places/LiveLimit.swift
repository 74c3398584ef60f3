/// Enforces `max-live-connections`: long-lived connections to an upstream, which are event streams and tunnels. They hold no place
/// of `max-connections`, so that other requests need not wait for them. Pure.
package struct LiveLimit: Hashable {
  private let limit: Int
  private var shares: PlaceShares
  package private(set) var count = 0

  /// - Parameters:
  ///   - limit: the most long-lived connections of all clients together.
  ///   - clientShare: percent of them that one client may hold.
  package init(limit: Int, clientShare: Int) {
    self.limit = limit
    shares = PlaceShares(limit: limit, clientShare: clientShare, pathShare: 100)
  }

  /// Counts one more long-lived connection; `false`: the limit is reached, or this client holds its share.
  package mutating func take(_ holder: PlaceHolder) -> Bool {
    guard count < limit, shares.full(holder) == nil else { return false }
    count += 1
    shares.take(holder)
    return true
  }

  package mutating func giveBack(_ holder: PlaceHolder) {
    count -= 1
    shares.giveBack(holder, isQuick: true)
  }
}
