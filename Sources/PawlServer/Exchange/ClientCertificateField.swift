import COpenSSL
import PawlBase
import PawlHTTP
import PawlTLS

/// `Client-Cert` (RFC 9440): tells the origin which certificate the client has used in its TLS handshake with pawl. `Client-Cert`
/// and `Client-Cert-Chain` from untrusted clients are removed on every route, since the origin would believe that pawl has set
/// them.
enum ClientCertificateField {
  /// The most DER bytes of a certificate that is passed on; a larger one would exceed the head limits of origins.
  static let maxCertificate = 16 << 10
  static let name = Array("Client-Cert".utf8)
  private static let chainName = Array("Client-Cert-Chain".utf8)

  /// Returns the field value: a byte sequence of RFC 9651 §3.3.5, which is Base64 between colons.
  static func value(_ certificate: PeerCertificate?) -> [UInt8]? {
    guard let der = certificate?.der, !der.isEmpty, der.count <= maxCertificate else { return nil }
    return [0x3a] + Base64.encode(der) + [0x3a]
  }

  /// Removes both fields from requests of untrusted clients. Adds `Client-Cert` if the settings of the route ask for it. If a
  /// trusted proxy has sent one of the fields, both stay as they are.
  static func set(_ fields: inout Fields, _ facts: ClientFacts, isWanted: Bool) {
    let isClaimed = fields.lines.contains { $0.name == .other && isClaim(fields.name($0)) }
    if isClaimed {
      if facts.isTrusted { return }
      fields.removeAll { name, spelling, _ in name == .other && isClaim(spelling) }
    }
    if isWanted, let value = facts.clientCertificate { fields.append(named: name, value) }
  }

  /// Whether a field name is `Client-Cert` or `Client-Cert-Chain`, also with another character such as `_` in place of a hyphen:
  /// CGI and WSGI make the same variable of such names (Hygiene, "underscore aliases").
  private static func isClaim(_ spelling: Bytes) -> Bool {
    guard spelling.count == name.count || spelling.count == chainName.count else { return false }
    let hyphened = spelling.map { $0.isLetter || $0.isDigit ? $0 : 0x2d }[...]
    return hyphened.equalsIgnoringCase(name) || hyphened.equalsIgnoringCase(chainName)
  }
}
