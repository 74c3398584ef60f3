/// The decision about a fill whose last reader has left.
package enum AbandonedFillDecision: Hashable, Sendable {
  /// It goes on; the next reader finds more of the body, or all of it.
  case goOn
  /// It ends. What is held stays, and is used when a reader comes back.
  case pause
}

/// Decides whether a fill without readers goes on (`abandoned-fill` in the configuration).
///
/// It goes on when at least half is held, when little remains, or when the origin cannot do ranges: a pause would then cost a
/// replay. The client that lost its network often comes back soon.
///
/// - Parameters:
///   - held: bytes held in all.
///   - remaining: bytes still missing; `nil` when the length is unknown.
///   - total: the length; `nil` when unknown. Such a fill goes on for an origin without ranges, within the limits of
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

/// The number of abandoned fills that may run on one upstream. Without a limit, requests for `bytes=0-0` of huge objects would be
/// an attack.
package let abandonedFillLimit = 4

/// The limits of a fill of unknown length that goes on without readers; it may never end.
///
/// It fetches at most `abandoned-fill` more bytes, and ends earlier when it is slow: a live stream without listeners is not
/// recorded. What is held stays in both cases.
package struct AbandonedUnknown: Hashable, Sendable {
  /// The time between two checks of the pace.
  package static let interval = Duration.seconds(5)
  /// A fill that would need longer than this for the bytes it may fetch is slow.
  package static let longest = Duration.seconds(60)
  /// The most bytes that the required pace is computed from, also where `abandoned-fill` is larger.
  package static let most: UInt64 = 64 << 20

  /// The offset where the fill has fetched all that it may.
  package let end: UInt64
  private let leastInInterval: UInt64
  private var lookedAt: UInt64

  /// - Parameters:
  ///   - frontier: the offset where its bytes end when the last reader leaves.
  ///   - abandonedFill: the setting, in bytes.
  package init(at frontier: UInt64, abandonedFill: UInt64) {
    let (sum, overflow) = frontier.addingReportingOverflow(abandonedFill)
    end = overflow ? .max : sum
    leastInInterval = min(abandonedFill, Self.most) / UInt64(Self.longest / Self.interval)
    lookedAt = frontier
  }

  /// Whether the fill has fetched all that it may.
  package func isEnough(_ frontier: UInt64) -> Bool { frontier >= end }

  /// Checks the pace, an ``interval`` after the last check. `false`: it is slow.
  package mutating func keepsPace(_ frontier: UInt64) -> Bool {
    let gained = frontier - min(lookedAt, frontier)
    lookedAt = frontier
    return gained >= max(leastInInterval, 1)
  }
}
