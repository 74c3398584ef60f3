import PawlLoop

/// Whether writing to a file would hold up its loop. The page cache takes bytes in microseconds, until it has more than the
/// disk can follow: then the system lets whoever writes wait, up to 200 ms a call. A loop that has lost a good part of a
/// second to that has its fills and uploads write in the pool for a while. Of one loop.
struct SlowWrites: Sendable {
  /// Shorter ones do not count: a thread that shares its core is kept waiting for as long now and then.
  static let least = Duration.milliseconds(5)
  /// So much of one ``stretch`` may be lost.
  static let patience = Duration.milliseconds(250)
  static let stretch = Duration.seconds(1)
  /// So long after the last such loss writes are expected to be slow.
  static let memory = Duration.seconds(10)

  private var began = Monotonic(nanoseconds: 0)
  private var lost = Duration.zero
  private var until: Monotonic?

  /// One took so long, wherever it was.
  mutating func note(_ took: Duration, at now: Monotonic) {
    guard took >= Self.least else { return }
    if now - began >= Self.stretch { (began, lost) = (now, .zero) }
    lost += took
    if lost >= Self.patience { until = now.advanced(by: Self.memory) }
  }

  func areExpected(at now: Monotonic) -> Bool { until.map { now < $0 } ?? false }
}
