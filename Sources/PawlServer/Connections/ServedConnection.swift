import PawlLoop
import PawlObserve

/// A client's connection, from `accept` to its end: an ``Opening``, then an ``HTTP1Connection`` or an ``HTTP2Connection``. Lives
/// on one loop, which holds it.
protocol ServedConnection: AnyObject {
  var stream: SocketStream { get }
  /// The index of the connection in its loop's ``ConnectionList``; only the list writes it.
  var place: ConnectionPlace { get set }
  /// The counters of connections of this kind: how many began, and how many ended.
  var life: (began: LoopCounter, ended: LoopCounter) { get }
  /// Drains the connection: closes it when idle, else after the present answers (HTTP/2: with GOAWAY).
  func drain()
  /// Ends, without a delay, everything that still runs at the end of a drain. The client can see that its answers are
  /// incomplete.
  func abandonAll(_ end: BodyEnd)
}
