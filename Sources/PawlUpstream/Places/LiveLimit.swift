/// Who holds a connection to an upstream for as long as it likes: event streams and tunnels. They count against `max-live-connections`,
/// and hold no place of `max-connections`, which others are waiting for. Pure.
package struct LiveLimit: Hashable {
  private let limit: Int
  private var shares: PlaceShares
  package private(set) var count = 0

  /// - Parameters:
  ///   - limit: of all together.
  ///   - clientShare: percent of them that one client may hold.
  package init(limit: Int, clientShare: Int) {
    self.limit = limit
    shares = PlaceShares(limit: limit, clientShare: clientShare, pathShare: 100)
  }

  /// Takes one; `false`: there is none, or this client holds its share.
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
