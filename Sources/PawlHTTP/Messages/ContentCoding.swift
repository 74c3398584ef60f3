/// A content coding that pawl can apply (RFC 9110 §8.4.1). In an optional value, `nil` stands for uncoded content (`identity`).
package enum ContentCoding: UInt8, CaseIterable, Hashable, Sendable {
  case gzip = 1, brotli = 2, zstd = 3

  /// The name in `Content-Encoding` and `Accept-Encoding`.
  package var name: StaticString {
    switch self {
    case .gzip: "gzip"
    case .brotli: "br"
    case .zstd: "zstd"
    }
  }

  /// The coding of this name, letters compared without case; `x-gzip` is `gzip` (RFC 9110 §8.4.1.3). `nil` for any other.
  package init?(name: Bytes) {
    switch name.count {
    case 2 where name.equalsIgnoringCase("br"): self = .brotli
    case 4 where name.equalsIgnoringCase("gzip"): self = .gzip
    case 4 where name.equalsIgnoringCase("zstd"): self = .zstd
    case 6 where name.equalsIgnoringCase("x-gzip"): self = .gzip
    default: return nil
    }
  }
}

extension Optional where Wrapped == ContentCoding {
  /// The byte of the coding in a cache key; 0 for `identity`. It never changes between versions of pawl.
  package var keyByte: UInt8 { self?.rawValue ?? 0 }
}
