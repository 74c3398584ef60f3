import PawlHTTP
import PawlLoop
import PawlTLS

/// The facts about a client's connection, in every version of HTTP; the same for all of its requests.
final class ClientFacts {
  /// The client's address: the peer's, or the one that a trusted proxy gave in the PROXY protocol.
  let client: SocketAddress?
  /// Whether ``client`` is among `trusted-proxies`. If so, the `X-Forwarded-…` fields of its requests are used.
  let isTrusted: Bool
  /// The port that the client connected to: pawl's, or the one that a trusted proxy gave.
  let port: UInt16
  /// Whether the client speaks TLS, with pawl or with a trusted proxy.
  let isSecure: Bool
  /// The TLS handshake of the connection; `nil` without TLS.
  private let handshake: Handshake?
  /// The client's address as the access log writes it.
  private(set) lazy var text = Array((client?.hostText ?? "-").utf8)

  /// The last introduction that was made. It can be used again, because most clients send requests for one host only.
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

  /// Returns the fields that describe the client to the origin, such as `Host` and `X-Forwarded-For`, for a request that came
  /// without any of them.
  /// - Parameter saysVia: whether `Via` is among them; otherwise `CDN-Loop` is.
  func introduction(of authority: Bytes, _ version: HTTPVersion, saysVia: Bool) -> Fields {
    if let introduced, introduced.version == version, introduced.saysVia == saysVia, introduced.authority == authority {
      return introduced.fields
    }
    let made = Introduction(authority, version, saysVia: saysVia, self)
    introduced = made
    return made.fields
  }

  /// Adds `Host`, and the fields with the client's address, scheme and port.
  func introduce(
    _ fields: inout Fields, _ authority: Bytes, fallbackHost: Bytes, _ version: HTTPVersion, saysVia: Bool
  ) {
    fields.append(.host, authority.isEmpty ? fallbackHost : authority)
    applyForwarded(
      to: &fields, client: client == nil ? Bytes("unknown") : text[...], scheme: scheme, host: authority, port: port,
      peerIsTrusted: isTrusted)
    saysVia ? Via.append(to: &fields, version: version) : Via.appendLoopMark(to: &fields)
  }

  /// The result of the TLS handshake with pawl, and the certificates from which pawl chose. An object of its own, so that
  /// connections without TLS need no memory for it.
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

  /// The result of the TLS handshake with pawl; `nil` without TLS.
  var tls: TLSFacts? { handshake?.tls }

  /// The value of `Client-Cert` (RFC 9440 §2.1); `nil` without a client certificate.
  var clientCertificate: [UInt8]? { handshake?.clientCertificate }

  var scheme: StaticString { isSecure ? "https" : "http" }

  /// Whether a request for this authority must not be served on this connection (RFC 9110 §15.5.20). This is so if some
  /// certificate section asks its clients for certificates, and the section of the handshake is not the section of the
  /// authority.
  func isMisdirected(_ authority: Bytes) -> Bool {
    guard let handshake, let certificates = handshake.certificates, certificates.asksForCertificates else {
      return false
    }
    let host = Authority.hostOnly(authority)
    return !host.elementsEqual(handshake.tls.serverName) && certificates.section(for: host) != handshake.tls.section
  }
}
