import PawlHTTP
import PawlLoop

/// Reports of an exchange about its node.
extension OriginExchange {
  /// Moves the exchange from the chosen node to the one that it is connected to.
  func moveNode(to url: Int) {
    upstream.move(from: preferredURL, to: url)
    preferredURL = url
  }

  /// Stops counting the exchange at its node; after that it is counted at no node.
  func leaveNode() {
    guard !urlOrder.isEmpty else { return }
    urlOrder = []
    upstream.leave(preferredURL)
  }

  func noteAnswer(_ status: Int) {
    let now = loop.now
    upstream.answered(preferredURL, status, to: request.head.target, since: grantedAt ?? now, at: now)
  }

  func noteBreak(_ error: ProxyError) {
    guard case .connected(let connection) = phase, !response.hasFinalHead else { return }
    upstream.broke(
      connection.url, error, for: request.head.target, isReused: connection.isReused, at: loop.now)
  }
}
