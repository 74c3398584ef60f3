import PawlLoop

/// Limits the rate at which a loop moves answers for slow clients into files: 100 MiB/s, so that the loop, the disk and the
/// origins have capacity left for other answers. Used on one loop only.
struct SpillPace: Sendable {
  /// The most bytes moved in one ``stretch``.
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
