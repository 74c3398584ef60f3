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
  /// The client's address as the access log writes it.
  let text: [UInt8]

  init(client: SocketAddress?, isTrusted: Bool, port: UInt16, isSecure: Bool = false, tls: TLSFacts? = nil) {
    (self.client, self.isTrusted, self.port, self.tls) = (client, isTrusted, port, tls)
    self.isSecure = isSecure || tls != nil
    text = Array((client?.hostText ?? "-").utf8)
  }

  var scheme: StaticString { isSecure ? "https" : "http" }
}
