/// A token bucket for an ``HTTP2Rate``: it starts full, each event takes one token, and tokens come back with time.
struct HTTP2RateLimit: Hashable, Sendable {
  private static let second: Int64 = 1_000_000_000

  let rate: HTTP2Rate
  /// The tokens left, times 10^9.
  private var left: Int64
  private var lastTake: Int64?
  /// The tokens left that ``earn(_:)`` added.
  private var earned = 0

  init(_ rate: HTTP2Rate) {
    self.rate = rate
    left = Int64(rate.burst) * Self.second
  }

  /// Takes one token; `false` when there is none. `now`: monotonic, in nanoseconds.
  mutating func take(at now: Int64) -> Bool {
    if earned > 0 {
      earned -= 1
      return true
    }
    refill(now)
    guard left >= Self.second else { return false }
    left -= Self.second
    return true
  }

  /// Adds tokens that last until they are taken; at most sixteen times the burst is kept.
  mutating func earn(_ count: Int) { earned = min(earned + count, 16 * rate.burst) }

  private mutating func refill(_ now: Int64) {
    let full = Int64(rate.burst) * Self.second
    defer { lastTake = now }
    guard let lastTake, now > lastTake else { return }
    let (gain, overflow) = (now - lastTake).multipliedReportingOverflow(by: Int64(rate.perSecond))
    left = overflow ? full : min(full, left.addingReportingOverflow(gain).overflow ? full : left + gain)
  }
}
