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
  /// What the TLS handshake with pawl came to; `nil` in clear.
  let tls: TLSFacts?
  /// Among which certificates that handshake chose; `nil` in clear.
  private let certificates: TLSServerContext?
  /// The client's address as the access log writes it.
  let text: [UInt8]
  /// What `Client-Cert` tells the origin of the client's certificate (RFC 9440 §2.1); `nil` without one.
  private(set) lazy var clientCertificate: [UInt8]? = ClientCertificateField.value(tls?.peerCertificate)

  init(
    client: SocketAddress?, isTrusted: Bool, port: UInt16, isSecure: Bool = false, tls: TLSFacts? = nil,
    certificates: TLSServerContext? = nil
  ) {
    (self.client, self.isTrusted, self.port, self.tls) = (client, isTrusted, port, tls)
    self.isSecure = isSecure || tls != nil
    self.certificates = certificates
    text = Array((client?.hostText ?? "-").utf8)
  }

  var scheme: StaticString { isSecure ? "https" : "http" }

  /// Whether a request for this authority must not come over this connection (RFC 9110 §15.5.20): some section asks its
  /// clients for certificates, and the handshake was for another one than the authority is of.
  func isMisdirected(_ authority: Bytes) -> Bool {
    guard let tls, let certificates, certificates.asksForCertificates else { return false }
    let host = Authority.hostOnly(authority)
    return !host.elementsEqual(tls.serverName) && certificates.section(for: host) != tls.section
  }
}
