import PawlHTTP
import PawlLoop

/// What trusted proxies say of the client that asked them. Of others it is not read.
enum TrustedForwarding {
  /// Whom the peer names, if it is to be believed.
  static func client(in fields: Fields) -> Bytes? {
    guard let last = fields.combined(.xForwardedFor)?.split(separator: 0x2c).last?.trimmed, !last.isEmpty else {
      return nil
    }
    return last
  }

  /// The first element of what a field says, in lower case, when it is what such a field may hold.
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
  /// Who asks: the peer, or whom a trusted one names.
  var clientAddress: Bytes {
    let named = isTrustedPeer ? TrustedForwarding.client(in: head.fields) : nil
    return named ?? Bytes(client?.hostText ?? "-")
  }

  /// `http` or `https`: how the client reached pawl, or the trusted proxy before it.
  var scheme: [UInt8] {
    claim(.xForwardedProto) { $0.equals("http") || $0.equals("https") }.map { Array($0) }
      ?? facts.scheme.withUTF8Buffer { Array($0) }
  }

  /// Whether the client speaks TLS with pawl, or with a trusted proxy that says so.
  var isSecure: Bool {
    guard isTrustedPeer, head.fields.contains(.xForwardedProto) else { return facts.isSecure }
    return scheme.elementsEqual("https".utf8)
  }

  /// The absolute URL at which the client of this request reaches a path: scheme and host as the client used them, which only a
  /// trusted proxy may tell otherwise. The path alone where an HTTP/1.0 client named no host.
  func url(of path: [UInt8]) -> [UInt8] {
    let host = claim(.xForwardedHost, TrustedForwarding.isHost) ?? head.authority
    return host.isEmpty ? path : scheme + Array("://".utf8) + host + path
  }

  private func claim(_ name: FieldName, _ isSound: (Bytes) -> Bool) -> Bytes? {
    isTrustedPeer ? TrustedForwarding.claim(name, in: head.fields, isSound) : nil
  }
}
