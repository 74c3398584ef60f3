/// When operations are due in an open loop: at even distances, whether or not those before have ended, so that a server
/// that stalls does not hold back the clock it is measured by (no coordinated omission).
struct Pacer: Sendable {
  private let start: UInt64
  private let interval: Double
  private let shift: Double
  private var index: UInt64 = 0

  /// - Parameters:
  ///   - rate: operations a second of all workers together.
  ///   - start: of the first worker's first one, in nanoseconds.
  init(rate: Double, start: UInt64, worker: Int, workers: Int) {
    interval = 1e9 / rate * Double(workers)
    self.start = start
    shift = 1e9 / rate * Double(worker)
  }

  /// When the next one is due.
  var next: UInt64 { start + UInt64(shift + interval * Double(index)) }

  /// Takes the next one, when it is due.
  mutating func take(at now: UInt64) -> UInt64? {
    let due = next
    guard due <= now else { return nil }
    index += 1
    return due
  }

  /// How many are due and were not taken.
  func waiting(at now: UInt64) -> UInt64 {
    guard next <= now else { return 0 }
    return UInt64(Double(now - next) / interval) + 1
  }
}
