import PawlHTTP
import PawlLoop

/// The fields in which trusted proxies describe their client. Such fields from other peers are ignored.
enum TrustedForwarding {
  /// Returns the client's address from `X-Forwarded-For`; call this only for requests of a trusted proxy.
  static func client(in fields: Fields) -> Bytes? {
    guard let last = fields.combined(.xForwardedFor)?.split(separator: 0x2c).last?.trimmed, !last.isEmpty else {
      return nil
    }
    return last
  }

  /// Returns the first element of a field in lower case; `nil` if it is not valid for that field.
  fileprivate static func claim(_ name: FieldName, in fields: Fields, _ isSound: (Bytes) -> Bool) -> Bytes? {
    guard let value = fields.first(name) else { return nil }
    let first = value.prefix { $0 != 0x2c }.trimmed
    let lowered = Array(first.map(\.lowercasedASCII))[...]
    return isSound(lowered) ? lowered : nil
  }

  fileprivate static func isHost(_ text: Bytes) -> Bool {
    !text.isEmpty
      && text.allSatisfy { byte in
        switch byte {
        case 0x61...0x7a, 0x30...0x39, 0x2d, 0x2e, 0x3a, 0x5b, 0x5d, 0x5f: true
        default: false
        }
      }
  }
}

extension IncomingRequest {
  /// The client's address: the peer's, or the one that a trusted proxy names.
  var clientAddress: Bytes {
    let named = isTrustedPeer ? TrustedForwarding.client(in: head.fields) : nil
    return named ?? Bytes(client?.hostText ?? "-")
  }

  /// `http` or `https`: the scheme by which the client reached pawl, or the trusted proxy in front of it.
  var scheme: [UInt8] {
    claim(.xForwardedProto) { $0.equals("http") || $0.equals("https") }.map { Array($0) }
      ?? facts.scheme.withUTF8Buffer { Array($0) }
  }

  /// Whether the client speaks TLS, with pawl or, according to the request's fields, with a trusted proxy.
  var isSecure: Bool {
    guard isTrustedPeer, head.fields.contains(.xForwardedProto) else { return facts.isSecure }
    return scheme.elementsEqual("https".utf8)
  }

  /// Returns the absolute URL by which the client of this request reaches a path, with the scheme and host that the client used;
  /// only a trusted proxy's fields can change these. Returns the path alone where an HTTP/1.0 client named no host.
  func url(of path: [UInt8]) -> [UInt8] {
    let host = claim(.xForwardedHost, TrustedForwarding.isHost) ?? head.authority
    return host.isEmpty ? path : scheme + Array("://".utf8) + host + path
  }

  private func claim(_ name: FieldName, _ isSound: (Bytes) -> Bool) -> Bytes? {
    isTrustedPeer ? TrustedForwarding.claim(name, in: head.fields, isSound) : nil
  }
}
