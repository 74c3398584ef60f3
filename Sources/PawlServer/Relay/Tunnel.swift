import PawlHTTP
import PawlLoop

/// A tunnel after a 101 response, or over a stream of HTTP/2 (RFC 8441). It passes bytes in both directions until both sides have
/// ended, with backpressure.
final class Tunnel {
  private let client: TunnelEnd
  private let origin: TunnelEnd
  private let ended: (_ toClient: UInt64, _ toOrigin: UInt64) -> Void
  private var isOver = false

  init(
    client: any ByteStream, origin: SocketStream, toClient: [UInt8], toOrigin: [UInt8],
    ended: @escaping (_ toClient: UInt64, _ toOrigin: UInt64) -> Void
  ) {
    self.client = TunnelEnd(stream: client, pending: toClient)
    self.origin = TunnelEnd(stream: origin, pending: toOrigin)
    self.ended = ended
    self.client.tunnel = self
    self.origin.tunnel = self
    self.client.other = self.origin
    self.origin.other = self.client
  }

  func start() {
    for end in [client, origin] {
      end.stream.delegate = end
      end.flush()
    }
    guard !isOver else { return }
    client.stream.startReading()
    origin.stream.startReading()
  }

  /// Ends both sides. If one side broke, both are reset, so that the other peer sees the break.
  func over(isBroken: Bool = false) {
    guard !isOver else { return }
    isOver = true
    for end in [client, origin] { isBroken ? end.stream.reset() : end.stream.close() }
    ended(client.sent, origin.sent)
  }
}

/// One side of a tunnel: its stream, and the bytes that still have to be written to it.
private final class TunnelEnd: StreamDelegate {
  private static let highWater = 256 << 10
  let stream: any ByteStream
  weak var tunnel: Tunnel?
  weak var other: TunnelEnd?
  private var pending: [UInt8]
  private(set) var sent: UInt64 = 0
  private var otherEnded = false
  private var hasEnded = false

  init(stream: any ByteStream, pending: [UInt8]) { (self.stream, self.pending) = (stream, pending) }

  func streamReadable() {
    guard let other, let tunnel else { return }
    let wanted = 64 << 10
    let start = other.pending.count
    other.pending.append(contentsOf: repeatElement(0, count: wanted))
    let result = other.pending.withUnsafeMutableBytes {
      stream.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[start...]))
    }
    var received = 0
    if case .bytes(let count) = result { received = count }
    other.pending.removeLast(wanted - received)
    switch result {
    case .bytes: other.flush()
    case .wouldBlock: return
    case .end:
      hasEnded = true
      stream.stopReading()
      other.otherEnded = true
      other.flush()
    case .failed: return tunnel.over(isBroken: true)
    }
    if other.pending.count >= Self.highWater { stream.stopReading() }
  }

  func streamWritable() { flush() }

  func flush() {
    var offset = 0
    while offset < pending.count {
      let result = pending.withUnsafeBytes {
        stream.write(UnsafeRawBufferPointer(rebasing: $0[offset...]), more: false)
      }
      guard case .bytes(let count) = result else {
        if case .failed = result { return tunnel?.over(isBroken: true) ?? () }
        stream.wantWritable()
        break
      }
      offset += count
      sent += UInt64(count)
    }
    pending.removeFirst(offset)
    guard pending.isEmpty else { return }
    if otherEnded {
      if hasEnded { return tunnel?.over() ?? () }
      stream.shutdownWrite()
    } else if let other, !other.hasEnded, !other.stream.isReading, !other.stream.isClosed {
      other.stream.startReading()
    }
  }
}
