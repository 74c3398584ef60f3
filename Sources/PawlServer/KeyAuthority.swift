import PawlCache
import PawlHTTP

/// The authority by which a resource is known in the cache: over TLS the default port is spelled out, so that what
/// `https://site/` is does not answer for `http://site/`, which often only sends clients there (RFC 9111 §2).
enum KeyAuthority {
  static func of(_ authority: Bytes, isSecure: Bool) -> Bytes {
    guard isSecure, !authority.isEmpty, Authority.hostOnly(authority).count == authority.count else { return authority }
    return authority + [0x3a, 0x34, 0x34, 0x33]
  }
}

extension IncomingRequest {
  /// The key of a target on the host that was asked.
  func key(_ target: Bytes) -> CacheKey {
    CacheKey(authority: KeyAuthority.of(head.authority, isSecure: isSecure), target: target)
  }

  /// Whether the client speaks TLS with pawl, or with a trusted proxy that says so.
  var isSecure: Bool { UploadNames.isSecure(self) }
}
