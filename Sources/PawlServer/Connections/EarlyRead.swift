/// Decides whether a new connection is read before the kernel is told to watch it. That saves time where clients have recently
/// sent their request by the time of `accept`: a connection that is answered and closed at once is never watched.
struct EarlyRead: Hashable {
  /// The most connections in a row that are watched first, before one is read at once again.
  static let mostSkipped = 64

  private var skips = 0
  private var left = 0

  /// Whether the next connection is to be read at once.
  mutating func isDue() -> Bool {
    guard left > 0 else { return true }
    left -= 1
    return false
  }

  /// Notes the result of reading at once. After each read that finds nothing, twice as many connections are watched first.
  mutating func note(found: Bool) {
    skips = found ? 0 : min(max(1, skips * 2), Self.mostSkipped)
    left = skips
  }
}
