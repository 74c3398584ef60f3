/// One side of one TLS connection, on one socket and one loop; ``SocketStream`` of PawlLoop drives it. Records are
/// gathered into few system calls; what the socket would not take is kept here and goes first.
package final class TLSEngine {
  /// What a step of the handshake came to.
  package enum Handshake: Hashable, Sendable {
    case done
    case wantsRead, wantsWrite
    /// It failed: the alert has been sent; `reason` is for the log and for `Proxy-Status`.
    case failed(TLSFailure)
  }

  init() {}
}

/// Why a handshake failed.
package struct TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// The peer closed, or sent something that is no TLS.
    case protocolError
    /// The peer's certificate is not trusted, not in time, or not for the name (RFC 9209: `tls_certificate_error`).
    case certificate
    /// The peer sent an alert (RFC 9209: `tls_alert_received`), with its number.
    case alert(UInt8)
  }
  package var kind: Kind
  /// In OpenSSL's words, and precise about certificates.
  package var reason: String

  package init(_ kind: Kind, _ reason: String) { (self.kind, self.reason) = (kind, reason) }
  package var description: String { reason }
}
