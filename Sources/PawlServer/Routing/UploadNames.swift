import COpenSSL
import PawlHTTP
import PawlLoop
import PawlStore
import PawlUpload

/// What an upload is called: its URL carries a secret token, everything else (files, catalogue, logs) the ID made of it.
enum UploadNames {
  /// A token that nobody has had before.
  static func makeToken() -> UploadToken { UploadToken(random: Randomness.bytes(24)) }

  /// The token that `secret` always gives: for uploads that must not be made twice from the same parts.
  static func token(from secret: [UInt8]) -> UploadToken { UploadToken(random: Array(sha256(secret)[..<24])) }

  /// The first 16 octets of SHA-256 over the token's text.
  static func id(_ token: UploadToken) -> UploadID {
    let digest = sha256(Array(token.text.utf8))
    func word(_ octets: ArraySlice<UInt8>) -> UInt64 { octets.reduce(0) { $0 << 8 | UInt64($1) } }
    return UploadID(high: word(digest[..<8]), low: word(digest[8..<16]))
  }

  /// The absolute URL at which the client of this request reaches an upload: scheme and host as the client used them,
  /// which only a trusted proxy may tell otherwise. A path alone where an HTTP/1.0 client named no host.
  static func location(_ token: UploadToken, prefix: [UInt8], of request: IncomingRequest) -> [UInt8] {
    let host = claim(.xForwardedHost, of: request, isHost) ?? request.head.authority
    let path = prefix + Array(token.text.utf8)
    return host.isEmpty ? path : scheme(of: request) + Array("://".utf8) + host + path
  }

  /// Whether the scheme is `https`.
  static func isSecure(_ request: IncomingRequest) -> Bool {
    guard request.isTrustedPeer, request.head.fields.contains(.xForwardedProto) else { return request.facts.isSecure }
    return scheme(of: request).elementsEqual("https".utf8)
  }

  /// `http` or `https`: how the client reached pawl, or the trusted proxy before it.
  static func scheme(of request: IncomingRequest) -> [UInt8] {
    let claimed = claim(.xForwardedProto, of: request) { $0.equals("http") || $0.equals("https") }
    return claimed.map { Array($0) } ?? request.facts.scheme.withUTF8Buffer { Array($0) }
  }

  /// The first element of what a trusted peer says, when it is what such a field may hold.
  private static func claim(_ name: FieldName, of request: IncomingRequest, _ isSound: (Bytes) -> Bool) -> Bytes? {
    guard request.isTrustedPeer, let value = request.head.fields.first(name) else { return nil }
    let first = value.prefix { $0 != 0x2c }.trimmed
    let lowered = Array(first.map(\.lowercasedASCII))[...]
    return isSound(lowered) ? lowered : nil
  }

  private static func isHost(_ text: Bytes) -> Bool {
    !text.isEmpty
      && text.allSatisfy { byte in
        switch byte {
        case 0x61...0x7a, 0x30...0x39, 0x2d, 0x2e, 0x3a, 0x5b, 0x5d, 0x5f: true
        default: false
        }
      }
  }

  static func sha256(_ octets: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    EVP_Digest(octets, octets.count, &digest, &length, EVP_sha256(), nil)
    return digest
  }
}
