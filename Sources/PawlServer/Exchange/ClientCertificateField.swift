import COpenSSL
import PawlBase
import PawlHTTP
import PawlTLS

/// `Client-Cert` (RFC 9440): tells the origin which certificate the client proved to have. Whoever else says so is not
/// believed, whether it is passed on or not: what a client sends in these fields would pass for pawl's word.
enum ClientCertificateField {
  /// DER bytes of a certificate that is passed on; a larger one would be more than origins take in a head.
  static let maxCertificate = 16 << 10
  static let name = Array("Client-Cert".utf8)
  private static let chainName = Array("Client-Cert-Chain".utf8)

  /// A byte sequence of RFC 9651 §3.3.5: Base64 between colons.
  static func value(_ certificate: PeerCertificate?) -> [UInt8]? {
    guard let der = certificate?.der, !der.isEmpty, der.count <= maxCertificate else { return nil }
    return [0x3a] + Base64.encode(der) + [0x3a]
  }

  /// Puts a request's fields right: a stranger's claims go; what the connection proved is said where the route wants it
  /// and no trusted peer has said it of its own client.
  static func set(_ fields: inout Fields, _ facts: ClientFacts, isWanted: Bool) {
    let isClaimed = fields.lines.contains { $0.name == .other && isClaim(fields.name($0)) }
    if isClaimed {
      if facts.isTrusted { return }
      fields.removeAll { name, spelling, _ in name == .other && isClaim(spelling) }
    }
    if isWanted, let value = facts.clientCertificate { fields.append(named: name, value) }
  }

  /// Whatever is no letter or digit counts as a hyphen: behind CGI and WSGI all become the same variable.
  private static func isClaim(_ spelling: Bytes) -> Bool {
    guard spelling.count == name.count || spelling.count == chainName.count else { return false }
    let hyphened = spelling.map { $0.isLetter || $0.isDigit ? $0 : 0x2d }[...]
    return hyphened.equalsIgnoringCase(name) || hyphened.equalsIgnoringCase(chainName)
  }
}
