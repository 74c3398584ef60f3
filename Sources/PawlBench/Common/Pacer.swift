/// The schedule of an open loop: operations are due at even intervals, whether or not the earlier ones have ended. A server
/// that stalls cannot delay its own measurement (no coordinated omission).
struct Pacer: Sendable {
  private let start: UInt64
  private let interval: Double
  private let shift: Double
  private var index: UInt64 = 0

  /// - Parameters:
  ///   - rate: operations a second, all workers together.
  ///   - start: the time of the first operation of the first worker, in nanoseconds.
  init(rate: Double, start: UInt64, worker: Int, workers: Int) {
    interval = 1e9 / rate * Double(workers)
    self.start = start
    shift = 1e9 / rate * Double(worker)
  }

  /// The time when the next operation is due.
  var next: UInt64 { start + UInt64(shift + interval * Double(index)) }

  /// Takes the next operation, if it is due, and returns the time when it was due.
  mutating func take(at now: UInt64) -> UInt64? {
    let due = next
    guard due <= now else { return nil }
    index += 1
    return due
  }

  /// Returns how many operations are due and were not taken.
  func waiting(at now: UInt64) -> UInt64 {
    guard next <= now else { return 0 }
    return UInt64(Double(now - next) / interval) + 1
  }
}
