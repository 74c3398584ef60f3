/// Why a handshake failed.
package struct TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// The peer closed the connection, or sent something that is not TLS.
    case protocolError
    /// The peer's certificate is not trusted, has expired, is not yet valid, or is not for the name (RFC 9209:
    /// `tls_certificate_error`).
    case certificate
    /// The peer sent an alert (RFC 9209: `tls_alert_received`), with its number.
    case alert(UInt8)
  }
  package var kind: Kind
  /// The reason in OpenSSL's words; for certificates in pawl's own, more precise words.
  package var reason: String
  /// Whether the peer sent HTTP in clear.
  package var isClearRequest = false

  package init(_ kind: Kind, _ reason: String) { (self.kind, self.reason) = (kind, reason) }
  package var description: String { reason }
}
