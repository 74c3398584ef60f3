import PawlLoop

/// How fast a loop moves answers of slow readers into files: at most 100 MiB/s, so that filling files leaves time, disk and origins to
/// those who wait for less. Of one loop.
struct SpillPace: Sendable {
  /// Bytes of one ``stretch``.
  static let limit = 1 << 20
  static let stretch = Duration.milliseconds(10)

  private var began = Monotonic(nanoseconds: 0)
  private var moved = 0

  /// So many were moved. `false`: no more in this stretch of time.
  mutating func take(_ count: Int, at now: Monotonic) -> Bool {
    if now - began >= Self.stretch { (began, moved) = (now, 0) }
    moved += count
    return moved < Self.limit
  }
}
