import PawlLoop

/// A connection to one address of an origin: with an exchange, or idle in its loop's pool.
final class OriginConnection: StreamDelegate {
  let stream: SocketStream
  /// Index of the URL it was made for.
  let url: Int
  private let usableUntil: Monotonic?
  /// Whether it has carried an exchange before.
  private(set) var isReused = false
  private(set) var idleSince = Monotonic(nanoseconds: 0)
  private weak var pool: OriginPool?

  /// `usableUntil`: a name may get another address; connections to the old one end in time.
  init(stream: SocketStream, url: Int, usableUntil: Monotonic?) {
    (self.stream, self.url, self.usableUntil) = (stream, url, usableUntil)
  }

  func isUsable(at now: Monotonic) -> Bool {
    guard let usableUntil else { return !stream.isClosed }
    return !stream.isClosed && now < usableUntil
  }

  func becomeIdle(in pool: OriginPool, at now: Monotonic) {
    (self.pool, isReused, idleSince) = (pool, true, now)
    stream.delegate = self
    stream.startReading()
  }

  /// Whether the origin has neither closed it nor sent anything nobody asked for.
  func isQuiet() -> Bool {
    var byte: UInt8 = 0
    return withUnsafeMutableBytes(of: &byte) { stream.read(into: $0) } == .wouldBlock
  }

  /// Whatever comes while idle, an end or octets, makes the connection useless (protocols.md 8.2, row 59).
  func streamReadable() { pool?.idleBroke(self) }
  func streamWritable() {}
}
