/// What becomes of a fill whose last reader has left.
package enum AbandonedFillDecision: Hashable, Sendable {
  /// It runs on; the next reader finds more, or all, of it.
  case goOn
  /// It ends; what is held stays and is joined to when a reader comes back.
  case pause
}

/// Decides about a fill without readers (`abandoned-fill` in the configuration).
///
/// It goes on when at least half is held, when little remains, or when the origin cannot do ranges: pausing would then
/// cost a replay, and the client that lost its network is about to come back.
///
/// - Parameters:
///   - held: bytes held in all.
///   - remaining: bytes still missing; `nil` when the length is unknown.
///   - total: the length; `nil` when unknown. Such a fill goes on for an origin without ranges, as far as
///     ``AbandonedUnknown`` allows.
///   - originHasRanges: whether the rest can be asked for later: ranges and a strong validator, not refused so far.
///   - abandonedFill: the setting, in bytes.
package func decideAbandoned(
  held: UInt64, remaining: UInt64?, total: UInt64?, originHasRanges: Bool, abandonedFill: UInt64
) -> AbandonedFillDecision {
  guard originHasRanges else { return .goOn }
  if let total, held >= total - total / 2 { return .goOn }
  if let remaining, remaining <= abandonedFill { return .goOn }
  return .pause
}

/// Never more abandoned fills than this run on one upstream: else `bytes=0-0` on huge objects would be an attack.
package let abandonedFillLimit = 4

/// How far a fill of unknown length goes on without readers: nobody knows where it ends, or whether it does.
///
/// It brings at most `abandoned-fill` more, and ends before that when it is slow: a live stream that nobody hears is
/// not recorded. What is held stays either way.
package struct AbandonedUnknown: Hashable, Sendable {
  /// The pace is looked at this often.
  package static let interval = Duration.seconds(5)
  /// One that would need longer than this for what it may bring is slow.
  package static let longest = Duration.seconds(60)
  /// Of a larger `abandoned-fill` no more is asked for in that time, bytes.
  package static let most: UInt64 = 64 << 20

  /// It has brought enough here; an offset.
  package let end: UInt64
  private let leastInInterval: UInt64
  private var lookedAt: UInt64

  /// - Parameters:
  ///   - frontier: where its bytes end now that the last reader has left.
  ///   - abandonedFill: the setting, in bytes.
  package init(at frontier: UInt64, abandonedFill: UInt64) {
    let (sum, overflow) = frontier.addingReportingOverflow(abandonedFill)
    end = overflow ? .max : sum
    leastInInterval = min(abandonedFill, Self.most) / UInt64(Self.longest / Self.interval)
    lookedAt = frontier
  }

  /// Whether it has brought all that it may.
  package func isEnough(_ frontier: UInt64) -> Bool { frontier >= end }

  /// Looks at its pace, an ``interval`` after the last look. `false`: it is slow.
  package mutating func keepsPace(_ frontier: UInt64) -> Bool {
    let gained = frontier - min(lookedAt, frontier)
    lookedAt = frontier
    return gained >= max(leastInInterval, 1)
  }
}
