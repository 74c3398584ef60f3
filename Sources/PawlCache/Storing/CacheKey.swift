package import PawlHTTP

/// What identifies a resource in the cache: who answers for it, and where (RFC 9111 §2). One key, whatever the range,
/// method or variant. The bytes are `authority NUL target`; neither part can contain a NUL.
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

  /// Adopts a key read back from the catalogue; `nil` unless exactly one NUL stands in it.
  package init?(bytes: [UInt8]) {
    guard bytes.count(where: { $0 == 0 }) == 1 else { return nil }
    self.bytes = bytes
  }

  package var authority: Bytes { bytes.prefix { $0 != 0 } }
  package var target: Bytes { bytes[(authority.endIndex + 1)...] }
}
