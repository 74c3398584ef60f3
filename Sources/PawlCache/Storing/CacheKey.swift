package import PawlHTTP

/// The key of a resource in the cache: authority and target (RFC 9111 §2). Range, method and variant do not change it. The bytes
/// are `authority NUL target`; neither part can contain a NUL.
package struct CacheKey: Hashable, Sendable {
  package let bytes: [UInt8]

  /// - Parameters:
  ///   - authority: lower-case host and port, as in ``RequestHead/authority``.
  ///   - target: path and query, byte for byte as they are forwarded.
  package init(authority: Bytes, target: Bytes) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(authority.count + 1 + target.count)
    bytes.append(contentsOf: authority)
    bytes.append(0)
    bytes.append(contentsOf: target)
    self.bytes = bytes
  }

  /// A key that was read from the catalogue; `nil` unless it holds exactly one NUL.
  package init?(bytes: [UInt8]) {
    guard bytes.count(where: { $0 == 0 }) == 1 else { return nil }
    self.bytes = bytes
  }

  package var authority: Bytes { bytes.prefix { $0 != 0 } }
  package var target: Bytes { bytes[(authority.endIndex + 1)...] }
}
