import PawlLoop

/// A client's connection, from `accept` to its end: an ``Opening``, then an ``HTTP1Connection`` or an ``HTTP2Connection``. Lives
/// on one loop, which holds it.
protocol ServedConnection: AnyObject {
  var stream: SocketStream { get }
  /// Its place in the list of its loop; only the list writes it.
  var place: ConnectionPlace { get set }
  /// Drains the connection: closes it when idle, else after the present answers (HTTP/2: with GOAWAY).
  func drain()
  /// Ends visibly, at once, what still runs after `drain-timeout`.
  func abandonAll(_ end: BodyEnd)
}
