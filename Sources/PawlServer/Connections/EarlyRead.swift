/// Decides whether a new connection is read before the kernel is told to watch it. That saves time if clients usually send their
/// request before `accept`, because a connection that is answered and closed at once is never watched.
struct EarlyRead: Hashable {
  /// The most new connections that are skipped, that is, not read at once, between two tries.
  static let mostSkipped = 64

  private var skips = 0
  private var left = 0

  /// Whether the next connection is to be read at once.
  mutating func isDue() -> Bool {
    guard left > 0 else { return true }
    left -= 1
    return false
  }

  /// Notes the result of reading at once. Each try that finds nothing doubles the number of connections that are skipped before
  /// the next try.
  mutating func note(found: Bool) {
    skips = found ? 0 : min(max(1, skips * 2), Self.mostSkipped)
    left = skips
  }
}
