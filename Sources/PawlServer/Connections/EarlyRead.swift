/// Whether a new connection is read before the kernel is told to watch it: pays where clients of late had sent their request by the
/// time they were accepted. One that is answered and closed at once is then never watched at all.
struct EarlyRead: Hashable {
  /// Connections that are watched first, at most, before one is read at once again.
  static let mostSkipped = 64

  private var skips = 0
  private var left = 0

  /// Of the next connection.
  mutating func isDue() -> Bool {
    guard left > 0 else { return true }
    left -= 1
    return false
  }

  /// Whether something was there to read. Each time there was nothing, twice as many are watched first.
  mutating func note(found: Bool) {
    skips = found ? 0 : min(max(1, skips * 2), Self.mostSkipped)
    left = skips
  }
}
