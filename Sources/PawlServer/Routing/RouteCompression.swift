import PawlCache
import PawlConfig
import PawlHTTP

/// What pawl compresses itself on a route.
struct RouteCompression: Sendable {
  enum Credentials: Sendable { case auto, on, off }

  let rules: CompressionRules
  /// Those that it applies; of equal weights the first.
  let codings: [ContentCoding]
  /// Of requests with cookies or credentials: `auto` as the origin does it.
  let credentials: Credentials
}

extension RouteCompression {
  init?(_ settings: SiteSettings) {
    self.init(rules: CompressionRules(), codings: [.zstd, .brotli, .gzip], credentials: .auto)
  }
}
