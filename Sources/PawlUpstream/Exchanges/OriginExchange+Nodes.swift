import PawlHTTP
import PawlLoop

/// What an exchange tells of the node that it is at, where there are several.
extension OriginExchange {
  /// It got a connection to another one than was chosen.
  func moveNode(to url: Int) {
    upstream.move(from: preferredURL, to: url)
    preferredURL = url
  }

  /// It is at no node any more.
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
