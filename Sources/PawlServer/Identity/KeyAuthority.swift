import PawlCache
import PawlHTTP

/// The authority in the cache key of a resource.
///
/// `https://site/` and `http://site/` have separate cache keys (RFC 9111 §2), because the `http` URL often only redirects to the
/// other. Over TLS the authority begins with a byte that no authority can have, so that no request in clear text can have the
/// same key. The scheme's default port is left out (RFC 3986 §6.2.3).
enum KeyAuthority {
  static func of(_ authority: Bytes, isSecure: Bool) -> Bytes {
    guard isSecure else { return without(":80", authority) }
    return [0x01] + without(":443", authority)
  }

  /// Returns the authority that the origin gets. Requests with the same cache key have the same authority at the origin.
  static func told(_ authority: Bytes, isSecure: Bool) -> Bytes {
    without(isSecure ? ":443" : ":80", authority)
  }

  /// Calls `body` with the bytes that ``of(_:isSecure:)`` returns, in temporary memory.
  static func lend<Result>(
    _ authority: Bytes, isSecure: Bool, to body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    let count = without(isSecure ? ":443" : ":80", authority).count
    return authority.withUnsafeBytes { bytes in
      let plain = UnsafeRawBufferPointer(rebasing: bytes[..<count])
      guard isSecure else { return body(plain) }
      return withUnsafeTemporaryAllocation(byteCount: count + 1, alignment: 1) { room in
        room[0] = 0x01
        UnsafeMutableRawBufferPointer(rebasing: room[1...]).copyMemory(from: plain)
        return body(UnsafeRawBufferPointer(room))
      }
    }
  }

  private static func without(_ port: StaticString, _ authority: Bytes) -> Bytes {
    guard authority.last == 0x30 || authority.last == 0x33 else { return authority }
    let host = Authority.hostOnly(authority)
    return authority[host.endIndex...].equals(port) ? host : authority
  }
}

extension IncomingRequest {
  /// Returns the cache key of a target on the host of this request.
  func key(_ target: Bytes) -> CacheKey {
    CacheKey(authority: KeyAuthority.of(head.authority, isSecure: isSecure) + claims, target: target)
  }

  /// The claims of a trusted proxy about the URL that its client used, as a part of the cache key, since applications put this
  /// URL into their responses.
  ///
  /// These are `X-Forwarded-Host` and similar fields except `-For`, and `Forwarded` except `for` and `by`. Claims that agree with
  /// the request itself are left out.
  private var claims: Bytes {
    guard isTrustedPeer, head.fields.mayContain(anyOf: Self.claiming) else { return [] }
    let scheme = Array((isSecure ? "https" : "http").utf8)
    var claims: [[UInt8]] = []
    for line in head.fields.lines {
      let name = head.fields.name(line).map { $0 == 0x5f ? 0x2d : $0.lowercasedASCII }
      let value = head.fields.value(line).trimmed.map(\.lowercasedASCII)
      switch line.name {
      case .xForwardedFor, .xRealIP: continue
      // A single `X-Forwarded-Proto` that agrees is in the key already, as the scheme.
      case .xForwardedProto where value.elementsEqual(scheme) && head.fields.count(of: .xForwardedProto) == 1: continue
      case .xForwardedHost where head.authority.elementsEqual(value): continue
      case .forwarded:
        claims += Self.said(by: value).filter {
          !$0.elementsEqual("host=".utf8 + Array(head.authority)) && !$0.elementsEqual("proto=".utf8 + scheme)
        }
      default:
        if isForwardedClaim(head.fields.name(line)) { claims.append(name + [0x3a] + value) }
      }
    }
    return claims.isEmpty ? [] : [0x02] + claims.joined(separator: [0x02])
  }

  private static let claiming = FieldNameSet([.forwarded, .xForwardedHost, .xForwardedPort, .xForwardedProto, .other])

  /// The parameters of a `Forwarded` value except `for` and `by`, in lower case, without spaces, tabs and quotes (RFC 7239 §5).
  private static func said(by value: [UInt8]) -> [[UInt8]] {
    value.split(whereSeparator: { $0 == 0x2c || $0 == 0x3b }).compactMap { pair in
      let plain = pair.filter { $0 != 0x22 && $0 != 0x20 && $0 != 0x09 }
      return plain.isEmpty || plain[...].hasPrefix("for=") || plain[...].hasPrefix("by=") ? nil : plain
    }
  }
}
