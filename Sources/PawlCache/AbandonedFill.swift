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
///   - total: the length; `nil` when unknown. Such a fill goes on for an origin without ranges, within the bounds that
///     hold for unknown lengths anyway (at most 64 MiB ahead of the fastest reader).
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
