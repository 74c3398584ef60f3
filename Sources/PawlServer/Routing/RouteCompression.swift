import PawlCache
import PawlConfig
import PawlHTTP
import Synchronization

/// What pawl compresses itself on a route.
final class RouteCompression: Sendable {
  let rules: CompressionRules
  /// Those that it applies; of equal weights the first.
  let codings: [ContentCoding]
  /// Of requests with cookies or credentials: `auto` as the origin does it.
  let credentials: CompressionSettings.Credentials
  /// The same for whatever type: what of it an origin is found to compress is compressed, too.
  let ofAnyType: CompressionRules
  /// Whether the origin was found to compress something on this route that the rules do not.
  let hasLearnt = Atomic(false)

  /// When a request last took the long way for want of a lesson; wall clock, seconds.
  private let sought = Atomic<Int64>(0)

  /// Whether the next request for what nobody has found out takes the long way, on which that is sought: one a second of a route.
  func seeks(at second: Int64) -> Bool {
    let last = sought.load(ordering: .relaxed)
    guard last != second else { return false }
    return sought.compareExchange(expected: last, desired: second, ordering: .relaxed).exchanged
  }

  init(rules: CompressionRules, codings: [ContentCoding], credentials: CompressionSettings.Credentials) {
    (self.rules, self.codings, self.credentials) = (rules, codings, credentials)
    ofAnyType = CompressionRules(
      types: [MediaTypePattern("*")], least: rules.least, greatest: rules.greatest, attachments: rules.attachments)
  }
}

extension RouteCompression {
  /// `nil`: nothing is compressed.
  convenience init?(_ settings: SiteSettings) {
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
