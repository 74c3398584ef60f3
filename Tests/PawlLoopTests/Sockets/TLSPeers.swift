import CLinux
import PawlTLS
import PawlTestKit
import Testing

@testable import PawlLoop

/// One end of a protected connection in a test: shakes hands when told that it can, then notes what it reads.
final class SecurePeer: StreamDelegate {
  let stream: SocketStream
  var outcome: TLSEngine.Handshake?
  var received: [UInt8] = []
  var sawEnd = false
  var failure: CInt?
  var readableCount = 0
  var writableCount = 0
  var onWritable: (() -> Void)?
  var readsAfterHandshake = true

  init(_ fd: CInt, _ loop: EventLoop, _ engine: TLSEngine) {
    stream = SocketStream(adopting: fd, loop: loop)
    stream.delegate = self
    stream.secure(engine)
  }

  func shake() {
    let outcome = stream.handshake()
    if outcome == .wantsRead || outcome == .wantsWrite { return }
    self.outcome = outcome
    if outcome == .done, readsAfterHandshake { stream.startReading() }
  }

  var isDone: Bool { outcome == .done }
  var hasFailed: TLSFailure? {
    if case .failed(let failure) = outcome { failure } else { nil }
  }

  func streamReadable() {
    guard outcome != nil else { return shake() }
    readableCount += 1
    readOnce()
  }

  func readOnce() {
    stream.loop.withReadBuffer { buffer in
      switch stream.read(into: buffer) {
      case .bytes(let count): received += UnsafeRawBufferPointer(rebasing: buffer[..<count])
      case .wouldBlock: break
      case .end: sawEnd = true
      case .failed(let code):
        failure = code
        stream.stopReading()
      }
    }
  }

  func streamWritable() {
    guard outcome != nil else { return shake() }
    writableCount += 1
    onWritable?()
  }

  func send(_ text: String, more: Bool = false) -> IOResult {
    Array(text.utf8).withUnsafeBytes { stream.write($0, more: more) }
  }

  var text: String { String(decoding: received, as: UTF8.self) }
}

/// A server and a client of it, on one loop.
struct SecurePair {
  let loop: EventLoop
  let server: SecurePeer
  let client: SecurePeer

  init(
    _ server: TLSServerContext, _ client: TLSClientContext, name: String = "a.example", place: String = "here",
    loop: EventLoop? = nil
  ) throws {
    let loop = try loop ?? EventLoop(index: 0)
    let (a, b) = try socketPair()
    self.loop = loop
    self.server = SecurePeer(a, loop, server.makeEngine())
    self.client = SecurePeer(b, loop, client.makeEngine(serverName: name, place: place))
  }

  /// Shakes hands until both have come to an end of it.
  @discardableResult
  func shake() -> SecurePair {
    server.shake()
    client.shake()
    wait(loop) { server.outcome != nil && client.outcome != nil }
    return self
  }
}

/// Certificates of the tests of streams, made once.
enum TestTLS {
  static let certificates = TestCertificates()
  static let root = certificates.make(names: ["Test Root"], isCA: true)
  static let leaf = certificates.make(names: ["a.example", "127.0.0.1"], issuer: root)

  static func server(
    _ pairs: [TestCertificate] = [leaf], minVersion: TLSVersion = .v12, tickets: TicketKeys = TicketKeys()
  ) throws -> TLSServerContext {
    let pairs = pairs.map { TLSKeyPair(certificate: $0.certificate, key: $0.key) }
    return try TLSServerContext(
      [TLSServerSettings(name: "a", pairs: pairs, minVersion: minVersion)], offersHTTP2: true, tickets: tickets)
  }

  static func client(ca: TestCertificate? = root, minVersion: TLSVersion = .v12) throws -> TLSClientContext {
    try TLSClientContext(TLSClientSettings(ca: ca?.certificate, minVersion: minVersion))
  }
}
