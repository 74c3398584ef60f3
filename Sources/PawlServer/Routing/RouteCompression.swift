import PawlCache
import PawlConfig
import PawlHTTP

/// What pawl compresses itself on a route.
struct RouteCompression: Sendable {
  let rules: CompressionRules
  /// Those that it applies; of equal weights the first.
  let codings: [ContentCoding]
  /// Of requests with cookies or credentials: `auto` as the origin does it.
  let credentials: CompressionSettings.Credentials
}

extension RouteCompression {
  /// `nil`: nothing is compressed.
  init?(_ settings: SiteSettings) {
    let compression = settings.compression
    guard settings.originEncoding == .identity, !compression.types.isEmpty else { return nil }
    let types = compression.types.flatMap { type in
      switch type {
      case .text: CompressedTypes.text
      case .pattern(let pattern): [MediaTypePattern(pattern)]
      }
    }
    self.init(
      rules: CompressionRules(
        types: types, least: compression.least, greatest: compression.greatest, attachments: compression.attachments),
      codings: compression.codings.compactMap { ContentCoding(name: Bytes($0.rawValue)) },
      credentials: compression.credentials)
  }
}
