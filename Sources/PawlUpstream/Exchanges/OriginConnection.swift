import PawlLoop
import PawlWire

/// A connection to one address of an origin: with an exchange, or idle in its loop's pool. It hears of its stream as long
/// as it lives, and has what every exchange on it needs anew: a clock, and a parser that has grown.
final class OriginConnection: StreamDelegate {
  let stream: SocketStream
  /// Known even when the connection is broken.
  let peer: SocketAddress?
  /// Index of the URL it was made for.
  let url: Int
  private let usableUntil: Monotonic?
  /// Whether it has carried an exchange before.
  private(set) var isReused = false
  private(set) var idleSince = Monotonic(nanoseconds: 0)
  /// The one whose request is on it; each holds the other until that is over.
  private var exchange: OriginExchange?
  /// Of an idle one: the pool closes it before it goes.
  private unowned var pool: OriginPool?
  /// Of the head that is being received.
  @exclusivity(unchecked) var parser = ResponseParser()
  private(set) lazy var timer: LoopTimer = stream.loop.makeTimer { [unowned self] in exchange?.ranOutOfPatience() }

  /// `usableUntil`: a name may get another address; connections to the old one end in time.
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

  /// The exchange is over, or has lost the connection.
  func end() {
    exchange = nil
    timer.cancel()
  }

  func becomeIdle(in pool: OriginPool, at now: Monotonic) {
    (self.pool, isReused, idleSince) = (pool, true, now)
    stream.startReading()
  }

  /// Whether the origin has neither closed it nor sent anything nobody asked for.
  func isQuiet() -> Bool {
    var byte: UInt8 = 0
    return withUnsafeMutableBytes(of: &byte) { stream.read(into: $0) } == .wouldBlock
  }

  /// Whatever comes while idle, an end or bytes, makes the connection useless (protocols.md 8.2, row 59).
  func streamReadable() {
    if let exchange { exchange.streamReadable() } else { pool?.idleBroke(self) }
  }

  func streamWritable() { exchange?.streamWritable() }
}
