import PawlHTTP
import PawlLoop
import PawlTLS

/// What is known about a client's connection, whatever is spoken on it; the same for all of its requests.
final class ClientFacts {
  /// Who asks: the peer, or whom a trusted proxy named in the PROXY protocol.
  let client: SocketAddress?
  /// Whether the peer, or whom it named, is among `trusted-proxies`: its `X-Forwarded-…` are believed.
  let isTrusted: Bool
  /// The port the client reached: pawl's, or the one a trusted proxy named.
  let port: UInt16
  /// Whether the client speaks TLS, with pawl or with the trusted proxy that says so.
  let isSecure: Bool
  /// `nil` in clear.
  private let handshake: Handshake?
  /// The client's address as the access log writes it.
  private(set) lazy var text = Array((client?.hostText ?? "-").utf8)

  /// The last one that was made: most clients ask for one host.
  private var introduced: Introduction?

  private final class Introduction {
    let authority: Bytes
    let version: HTTPVersion
    let saysVia: Bool
    let fields: Fields

    init(_ authority: Bytes, _ version: HTTPVersion, saysVia: Bool, _ facts: ClientFacts) {
      (self.authority, self.version, self.saysVia) = (authority, version, saysVia)
      var fields = Fields()
      facts.introduce(&fields, authority, fallbackHost: [], version, saysVia: saysVia)
      self.fields = fields
    }
  }

  /// What the origin is told with a request for `authority` that itself says nothing of who asked.
  /// - Parameter saysVia: by `Via`; else by `CDN-Loop`.
  func introduction(of authority: Bytes, _ version: HTTPVersion, saysVia: Bool) -> Fields {
    if let introduced, introduced.version == version, introduced.saysVia == saysVia, introduced.authority == authority {
      return introduced.fields
    }
    let made = Introduction(authority, version, saysVia: saysVia, self)
    introduced = made
    return made.fields
  }

  /// Says for which host the request is, and who asked, how and where.
  func introduce(
    _ fields: inout Fields, _ authority: Bytes, fallbackHost: Bytes, _ version: HTTPVersion, saysVia: Bool
  ) {
    fields.append(.host, authority.isEmpty ? fallbackHost : authority)
    applyForwarded(
      to: &fields, client: client == nil ? Bytes("unknown") : text[...], scheme: scheme, host: authority, port: port,
      peerIsTrusted: isTrusted)
    saysVia ? Via.append(to: &fields, version: version) : Via.appendLoopMark(to: &fields)
  }

  /// What the TLS handshake with pawl came to, and among which certificates it chose. Not in the facts themselves, which
  /// every idle connection has.
  private final class Handshake {
    let tls: TLSFacts
    let certificates: TLSServerContext?
    private(set) lazy var clientCertificate: [UInt8]? = ClientCertificateField.value(tls.peerCertificate)

    init(_ tls: TLSFacts, _ certificates: TLSServerContext?) { (self.tls, self.certificates) = (tls, certificates) }
  }

  init(
    client: SocketAddress?, isTrusted: Bool, port: UInt16, isSecure: Bool = false, tls: TLSFacts? = nil,
    certificates: TLSServerContext? = nil
  ) {
    (self.client, self.isTrusted, self.port) = (client, isTrusted, port)
    self.isSecure = isSecure || tls != nil
    handshake = tls.map { Handshake($0, certificates) }
  }

  /// What the TLS handshake with pawl came to; `nil` in clear.
  var tls: TLSFacts? { handshake?.tls }

  /// What `Client-Cert` tells the origin of the client's certificate (RFC 9440 §2.1); `nil` without one.
  var clientCertificate: [UInt8]? { handshake?.clientCertificate }

  var scheme: StaticString { isSecure ? "https" : "http" }

  /// Whether a request for this authority must not come over this connection (RFC 9110 §15.5.20): some section asks its
  /// clients for certificates, and the handshake was for another one than the authority is of.
  func isMisdirected(_ authority: Bytes) -> Bool {
    guard let handshake, let certificates = handshake.certificates, certificates.asksForCertificates else {
      return false
    }
    let host = Authority.hostOnly(authority)
    return !host.elementsEqual(handshake.tls.serverName) && certificates.section(for: host) != handshake.tls.section
  }
}
