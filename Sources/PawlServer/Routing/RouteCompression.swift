import PawlCache
import PawlConfig
import PawlHTTP
import Synchronization

/// The compression that pawl applies itself on a route.
final class RouteCompression: Sendable {
  let rules: CompressionRules
  /// The codings to choose from; the first one wins where the client gives equal weights.
  let codings: [ContentCoding]
  /// How responses to requests with cookies or credentials are treated; `auto`: compressed where the origin compresses them.
  let credentials: CompressionSettings.Credentials
  /// The same rules for any media type. They apply to a type that is not in ``rules``, but that the origin was found to compress.
  let ofAnyType: CompressionRules
  /// Whether the origin was found to compress a type on this route that the rules do not list.
  let hasLearnt = Atomic(false)

  /// When a request last left the hot path to find out what the origin compresses; wall clock, seconds.
  private let sought = Atomic<Int64>(0)

  /// Whether the next request for an unknown type leaves the hot path, since only an exchange can find out what the origin
  /// compresses. At most one request a second on each route does.
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
  /// Returns `nil` if nothing is compressed.
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
