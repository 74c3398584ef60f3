import PawlLoop

/// A client's connection, from `accept` to its end, whatever is spoken on it: a ``HTTP1Connection`` (HTTP/1.1), an
/// ``HTTP2Connection``, or one that is still being opened. Lives on one loop, which holds it.
protocol ServedConnection: AnyObject {
  var stream: SocketStream { get }
  /// In the list of its loop; the list's to write.
  var place: ConnectionPlace { get set }
  /// The server ends in order: close when idle, else after what is being answered (HTTP/2: GOAWAY).
  func drain()
  /// The time for draining is over: what still runs ends visibly, now.
  func abandonAll(_ end: BodyEnd)
}
