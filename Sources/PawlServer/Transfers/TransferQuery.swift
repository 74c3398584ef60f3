import PawlHTTP
import PawlObserve

/// What is asked of the list of transfers: `?kind=fill&upstream=app&limit=100`.
struct TransferQuery: Hashable, Sendable {
  static let usualLimit = 1000
  /// The most transfers of one answer.
  static let largestLimit = 20_000

  /// Empty: every kind.
  var kinds: Set<TransferKind> = []
  /// `nil`: every upstream.
  var upstream: String?
  var limit = TransferQuery.usualLimit

  init() {}

  struct Fault: Error, Hashable { let reason: String }

  /// Reads the query of a target; a member that is unknown or wrong is an error, because ignoring it would answer another
  /// question.
  init(target: Bytes) throws(Fault) {
    guard let mark = target.firstIndex(of: 0x3f) else { return }
    for member in target[(mark + 1)...].split(separator: 0x26) {
      let parts = member.split(separator: 0x3d, maxSplits: 1, omittingEmptySubsequences: false)
      let value = String(decoding: parts.count > 1 ? parts[1] : [], as: UTF8.self)
      switch String(decoding: parts[0], as: UTF8.self) {
      case "kind":
        for word in value.split(separator: ",") {
          guard let kind = TransferKind.allCases.first(where: { "\($0.word)" == word }) else {
            throw Fault(
              reason: "kind: \(word) is none of \(TransferKind.allCases.map { "\($0.word)" }.joined(separator: ", "))")
          }
          kinds.insert(kind)
        }
      case "upstream": upstream = value
      case "limit":
        guard let number = Int(value), (1...Self.largestLimit).contains(number) else {
          throw Fault(reason: "limit: a number from 1 to \(Self.largestLimit) is expected")
        }
        limit = number
      case let name: throw Fault(reason: "\(name) is none of kind, upstream, limit")
      }
    }
  }

  func takes(_ kind: TransferKind, _ upstream: String) -> Bool {
    (kinds.isEmpty || kinds.contains(kind)) && (self.upstream == nil || self.upstream == upstream)
  }

  func takes(_ row: TransferRow) -> Bool { takes(row.kind, row.upstream) }
}
