/// Decides whether a new connection is read before the kernel is told to watch it. That saves time if clients usually send their
/// request before `accept`, because a connection that is answered and closed at once is never watched.
struct EarlyRead: Hashable {
  /// The most new connections in a row that are not read at once, before the next try.
  static let mostSkipped = 64

  private var skips = 0
  private var left = 0

  /// Whether the next connection is to be read at once.
  mutating func isDue() -> Bool {
    guard left > 0 else { return true }
    left -= 1
    return false
  }

  /// Notes the result of reading at once. After each try that finds nothing, the number of connections up to the next try
  /// doubles.
  mutating func note(found: Bool) {
    skips = found ? 0 : min(max(1, skips * 2), Self.mostSkipped)
    left = skips
  }
}
