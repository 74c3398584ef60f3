import PawlLoop

/// Limits the rate at which a loop moves answers for slow clients into files: 100 MiB/s, so that time, disk and origins are left
/// for answers that wait for less. Of one loop.
struct SpillPace: Sendable {
  /// The most bytes in one ``stretch``.
  static let limit = 1 << 20
  static let stretch = Duration.milliseconds(10)

  private var began = Monotonic(nanoseconds: 0)
  private var moved = 0

  /// Counts moved bytes. Returns `false` when no more may be moved in this stretch of time.
  mutating func take(_ count: Int, at now: Monotonic) -> Bool {
    if now - began >= Self.stretch { (began, moved) = (now, 0) }
    moved += count
    return moved < Self.limit
  }
}
