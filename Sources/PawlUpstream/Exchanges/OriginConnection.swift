import PawlLoop
import PawlWire

/// A connection to one address of an origin: used by an exchange, or idle in the pool of its loop. This object is the delegate of
/// its stream until it is deallocated. It keeps what its exchanges reuse: a timer, and a parser with its buffers.
final class OriginConnection: StreamDelegate {
  let stream: SocketStream
  /// The origin's address, which is known even when the connection is broken.
  let peer: SocketAddress?
  /// Index of the URL that the connection was made for.
  let url: Int
  private let usableUntil: Monotonic?
  /// Whether the connection has carried an exchange before.
  private(set) var isReused = false
  private(set) var idleSince = Monotonic(nanoseconds: 0)
  /// The exchange whose request is on the connection. Each retains the other until the exchange is over.
  private var exchange: OriginExchange?
  /// The pool of an idle connection, which closes its idle connections before it is deallocated.
  private unowned var pool: OriginPool?
  /// The parser of the head that is being received.
  @exclusivity(unchecked) var parser = ResponseParser()
  private(set) lazy var timer: LoopTimer = stream.loop.makeTimer { [unowned self] in exchange?.ranOutOfPatience() }

  /// - Parameter usableUntil: the time after which the connection is not reused, because the name may have another address then;
  ///   `nil`: the connection was not made by name.
  init(stream: SocketStream, url: Int, usableUntil: Monotonic?, peer: SocketAddress? = nil) {
    (self.stream, self.url, self.usableUntil, self.peer) = (stream, url, usableUntil, peer)
  }

  func isUsable(at now: Monotonic) -> Bool {
    guard let usableUntil else { return !stream.isClosed }
    return !stream.isClosed && now < usableUntil
  }

  func begin(_ exchange: OriginExchange) {
    if !isReused { stream.keep(self) }
    self.exchange = exchange
    parser.reset()
  }

  /// Detaches the exchange, which is over or has lost the connection.
  func end() {
    exchange = nil
    timer.cancel()
  }

  func becomeIdle(in pool: OriginPool, at now: Monotonic) {
    (self.pool, isReused, idleSince) = (pool, true, now)
    stream.startReading()
  }

  /// Whether the origin has neither closed the connection nor sent bytes that no request asked for.
  func isQuiet() -> Bool {
    var byte: UInt8 = 0
    return withUnsafeMutableBytes(of: &byte) { stream.read(into: $0) } == .wouldBlock
  }

  /// Reads for the exchange. If the connection is idle, its end or any bytes make it unusable (Hygiene, "bytes on an idle
  /// connection").
  func streamReadable() {
    if let exchange { exchange.streamReadable() } else { pool?.idleBroke(self) }
  }

  func streamWritable() { exchange?.streamWritable() }
}
