import CLinux
import COpenSSL
import PawlTestKit
import Testing

@testable import PawlTLS

/// Certificates of these tests, made once.
enum Made {
  static let certificates = TestCertificates()
  static let root = certificates.make(names: ["Test Root"], isCA: true)
  static let otherRoot = certificates.make(names: ["Other Root"], isCA: true)
  static let middle = certificates.make(names: ["Test Middle"], issuer: root, isCA: true)
  static let ecdsa = certificates.make(names: ["a.example", "127.0.0.1"], issuer: root)
  static let rsa = certificates.make(names: ["a.example"], kind: .rsa, issuer: root)
  static let ed25519 = certificates.make(names: ["a.example"], kind: .ed25519, issuer: root)
  static let b = certificates.make(names: ["b.example", "*.b.example"], issuer: middle)
  static let expired = certificates.make(names: ["a.example"], issuer: root, notBefore: -7200, notAfter: -3600)
  static let early = certificates.make(names: ["a.example"], issuer: root, notBefore: 3600)
  static let alone = certificates.make(names: ["a.example"])
  static let person = certificates.make(names: ["alice"], issuer: root)
  static let stranger = certificates.make(names: ["mallory"], issuer: otherRoot)

  static func section(
    _ name: String, _ pairs: [TestCertificate], ocsp: [String] = [], ca: TestCertificate? = nil,
    clients: TLSServerSettings.ClientCertificates = .off, minVersion: TLSVersion = .v12
  ) -> TLSServerSettings {
    TLSServerSettings(
      name: name, pairs: pairs.map(\.pair), ocspResponses: ocsp, clientCA: ca?.certificate, clientCertificates: clients,
      minVersion: minVersion)
  }

  static func server(
    _ sections: [TLSServerSettings], offersHTTP2: Bool = true, tickets: TicketKeys = TicketKeys()
  ) throws -> TLSServerContext {
    try TLSServerContext(sections, offersHTTP2: offersHTTP2, tickets: tickets)
  }

  static func client(
    ca: TestCertificate? = root, verifies: Bool = true, pair: TestCertificate? = nil
  ) throws -> TLSClientContext {
    try TLSClientContext(TLSClientSettings(verifies: verifies, ca: ca?.certificate, pair: pair?.pair))
  }
}

extension TestCertificate {
  var pair: TLSKeyPair { TLSKeyPair(certificate: certificate, key: key) }
}

/// Both ends of a connection, without a loop: each is asked in turn until nothing moves.
final class EnginePair {
  let server: TLSEngine
  let client: TLSEngine
  let sockets: (CInt, CInt)
  private(set) var serverOutcome = TLSEngine.Handshake.wantsRead
  private(set) var clientOutcome = TLSEngine.Handshake.wantsRead

  init(_ server: TLSEngine, _ client: TLSEngine) throws {
    var pair: [CInt] = [-1, -1]
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    try #require(socketpair(AF_UNIX, kind, 0, &pair) == 0)
    sockets = (pair[0], pair[1])
    (self.server, self.client) = (server, client)
    server.attach(pair[0], RecordScratch())
    client.attach(pair[1], RecordScratch())
  }

  convenience init(
    _ server: TLSServerContext, _ client: TLSClientContext, name: String = "a.example", place: String = "here"
  ) throws {
    try self.init(server.makeEngine(), client.makeEngine(serverName: name, place: place))
  }

  deinit {
    close(sockets.0)
    close(sockets.1)
  }

  @discardableResult
  func shake() -> EnginePair {
    for _ in 0..<12 {
      clientOutcome = client.handshake()
      serverOutcome = server.handshake()
    }
    // A client learns what its server thinks of its certificate by the first read (RFC 8446 4.4.2).
    return self
  }

  var isDone: Bool { clientOutcome == .done && serverOutcome == .done }
  var clientFailure: TLSFailure? { Self.failure(clientOutcome) }
  var serverFailure: TLSFailure? { Self.failure(serverOutcome) }
  private static func failure(_ outcome: TLSEngine.Handshake) -> TLSFailure? {
    if case .failed(let failure) = outcome { failure } else { nil }
  }

  func write(_ engine: TLSEngine, _ text: String, more: Bool = false) -> TLSEngine.Step {
    Array(text.utf8).withUnsafeBytes {
      engine.write($0, UnsafeRawBufferPointer(start: nil, count: 0), more: more, now: 0)
    }
  }

  func read(_ engine: TLSEngine, _ count: Int = 65_536) -> (TLSEngine.Step, String) {
    var buffer = [UInt8](repeating: 0, count: count)
    let step = buffer.withUnsafeMutableBytes { engine.read(into: $0) }
    if case .bytes(let count) = step { return (step, String(decoding: buffer[..<count], as: UTF8.self)) }
    return (step, "")
  }

  /// The certificate that the server showed.
  var shown: [UInt8]? { SSL_get0_peer_certificate(client.ssl).flatMap { raw in encoded { i2d_X509(raw, $0) } } }
}

func problem(_ body: () throws -> some Any) -> TLSProblem? {
  do {
    _ = try body()
    return nil
  } catch {
    return error as? TLSProblem
  }
}
