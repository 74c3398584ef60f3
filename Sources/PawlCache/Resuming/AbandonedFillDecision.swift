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

/// The largest number of abandoned fills on one upstream at the same time. Without this limit a client could make pawl fetch any
/// number of huge objects with requests for `bytes=0-0`.
package let abandonedFillLimit = 4

/// The limits of a fill of unknown length that goes on without readers; it may never end.
///
/// After the last reader has left, the fill fetches at most `abandoned-fill` bytes. It ends earlier when it is slow, so that a
/// live stream without clients is not recorded. The held bytes stay in both cases.
package struct AbandonedUnknown: Hashable, Sendable {
  /// The time between two checks of the pace.
  package static let interval = Duration.seconds(5)
  /// The time in which the fill has to fetch all the bytes that it may fetch. A fill that is too slow for that ends.
  package static let longest = Duration.seconds(60)
  /// The required pace is computed from `abandoned-fill`, but from at most this many bytes.
  package static let most: UInt64 = 64 << 20

  /// The offset at which the fill ends, because it has fetched all the bytes that it may fetch.
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

  /// Whether the fill has fetched all the bytes that it may fetch.
  package func isEnough(_ frontier: UInt64) -> Bool { frontier >= end }

  /// Checks the pace, an ``interval`` after the last check. `false`: the fill is too slow.
  package mutating func keepsPace(_ frontier: UInt64) -> Bool {
    let gained = frontier - min(lookedAt, frontier)
    lookedAt = frontier
    return gained >= max(leastInInterval, 1)
  }
}
