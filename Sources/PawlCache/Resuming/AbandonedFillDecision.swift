/// The decision about a fill whose last reader has left.
package enum AbandonedFillDecision: Hashable, Sendable {
  /// The fill goes on; the next reader finds more of the body, or all of it.
  case goOn
  /// The fill ends. The held bytes stay, and are used when a reader comes back.
  case pause
}

/// Decides whether a fill without readers goes on (`abandoned-fill` in the configuration).
///
/// The fill goes on when at least half of the body is held, when little remains, or when the origin does not serve ranges,
/// because after a pause the body would have to be replayed. A client that lost its network often comes back soon.
///
/// - Parameters:
///   - held: bytes held in all.
///   - remaining: bytes still missing; `nil` when the length is unknown.
///   - total: the length; `nil` when unknown. A fill of unknown length goes on if the origin has no ranges, within the limits of
///     ``AbandonedUnknown``.
///   - originHasRanges: whether the rest can be requested later: the origin has ranges and a strong validator, and has not
///     refused a range so far.
///   - abandonedFill: the setting, in bytes.
package func decideAbandoned(
  held: UInt64, remaining: UInt64?, total: UInt64?, originHasRanges: Bool, abandonedFill: UInt64
) -> AbandonedFillDecision {
  guard originHasRanges else { return .goOn }
  if let total, held >= total - total / 2 { return .goOn }
  if let remaining, remaining <= abandonedFill { return .goOn }
  return .pause
}

/// The most abandoned fills that may run on one upstream. Without this limit a client could make pawl fetch any number of huge
/// objects with requests for `bytes=0-0`.
package let abandonedFillLimit = 4

/// The limits of a fill of unknown length that goes on without readers; it may never end.
///
/// The fill fetches at most `abandoned-fill` more bytes, and ends earlier when it is slow, so that a live stream without clients
/// is not recorded. The held bytes stay in both cases.
package struct AbandonedUnknown: Hashable, Sendable {
  /// The time between two checks of the pace.
  package static let interval = Duration.seconds(5)
  /// A fill that would need longer than this for the bytes it may fetch is slow.
  package static let longest = Duration.seconds(60)
  /// The most bytes that the required pace is computed from, also where `abandoned-fill` is larger.
  package static let most: UInt64 = 64 << 20

  /// The offset at which the fill has fetched as many bytes as it may.
  package let end: UInt64
  private let leastInInterval: UInt64
  private var lookedAt: UInt64

  /// - Parameters:
  ///   - frontier: the offset where the fetched bytes end when the last reader leaves.
  ///   - abandonedFill: the setting, in bytes.
  package init(at frontier: UInt64, abandonedFill: UInt64) {
    let (sum, overflow) = frontier.addingReportingOverflow(abandonedFill)
    end = overflow ? .max : sum
    leastInInterval = min(abandonedFill, Self.most) / UInt64(Self.longest / Self.interval)
    lookedAt = frontier
  }

  /// Whether the fill has fetched as many bytes as it may.
  package func isEnough(_ frontier: UInt64) -> Bool { frontier >= end }

  /// Checks the pace, an ``interval`` after the last check. `false`: the fill is too slow.
  package mutating func keepsPace(_ frontier: UInt64) -> Bool {
    let gained = frontier - min(lookedAt, frontier)
    lookedAt = frontier
    return gained >= max(leastInInterval, 1)
  }
}
