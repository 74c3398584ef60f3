import PawlLoop

/// Whether writing to a file would hold up its loop. The page cache takes octets in microseconds, until it has more than the
/// disk can follow: then the system lets whoever writes wait, up to 200 ms a call. After the first such call fills write in
/// the pool for a while. Of one loop.
struct SlowWrites: Sendable {
  /// A write that takes as long is one for the pool.
  static let patience = Duration.milliseconds(10)
  /// So long after it the next are, too.
  static let memory = Duration.seconds(10)

  private var until: Monotonic?

  /// One took so long, wherever it was.
  mutating func note(from began: Monotonic, to ended: Monotonic) {
    if ended - began >= Self.patience { until = ended.advanced(by: Self.memory) }
  }

  func areExpected(at now: Monotonic) -> Bool { until.map { now < $0 } ?? false }
}
