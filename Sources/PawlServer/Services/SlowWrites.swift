import PawlLoop

/// Decides whether writes to files would hold up the loop. The page cache takes bytes in microseconds, until it holds more
/// unwritten bytes than the disk can keep up with; then the kernel delays each write by up to 200 ms. If such delays add up to a
/// quarter of a second within a second, fills and uploads of the loop write in the pool for a while. Used on one loop only.
struct SlowWrites: Sendable {
  /// Shorter delays do not count: a thread that shares its core waits that long now and then.
  static let least = Duration.milliseconds(5)
  /// The sum of delays in one ``stretch`` at which writes count as slow.
  static let patience = Duration.milliseconds(250)
  static let stretch = Duration.seconds(1)
  /// How long writes are expected to be slow, counted from the last such delay.
  static let memory = Duration.seconds(10)

  private var began = Monotonic(nanoseconds: 0)
  private var lost = Duration.zero
  private var until: Monotonic?

  /// Notes how long a write took, on the loop or in the pool.
  mutating func note(_ took: Duration, at now: Monotonic) {
    guard took >= Self.least else { return }
    if now - began >= Self.stretch { (began, lost) = (now, .zero) }
    lost += took
    if lost >= Self.patience { until = now.advanced(by: Self.memory) }
  }

  func areExpected(at now: Monotonic) -> Bool { until.map { now < $0 } ?? false }
}
