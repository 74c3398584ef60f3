import Histogram

/// Counts of latencies in microseconds: 2048 steps of one microsecond, then 1024 equal steps from each power of two to the next.
/// So the error is at most 0.1 %. Recording costs one addition. ``add(to:)`` converts the counts to an HdrHistogram.
struct LatencyCounts: Sendable {
  private static let linear = 2048
  private static let half = 1024
  /// The highest latency that is recorded: one hour. Longer ones count as one hour.
  static let highest: UInt64 = 3_600_000_000

  private var counts: [UInt32]
  private(set) var total: UInt64 = 0

  init() { counts = [UInt32](repeating: 0, count: Self.index(Self.highest) + 1) }

  mutating func record(_ microseconds: UInt64) {
    counts[Self.index(min(microseconds, Self.highest))] &+= 1
    total &+= 1
  }

  mutating func add(_ other: LatencyCounts) {
    guard other.total > 0 else { return }
    for index in counts.indices where other.counts[index] > 0 { counts[index] &+= other.counts[index] }
    total += other.total
  }

  mutating func reset() {
    guard total > 0 else { return }
    for index in counts.indices { counts[index] = 0 }
    total = 0
  }

  func add(to histogram: inout Histogram<UInt32>) {
    guard total > 0 else { return }
    for (index, count) in counts.enumerated() where count > 0 { histogram.record(Self.value(index), count: count) }
  }

  /// Returns the latency that `share` (0 to 1) of all operations did not exceed; 0 if nothing was recorded.
  func quantile(_ share: Double) -> UInt64 {
    guard total > 0 else { return 0 }
    var left = max(1, UInt64((Double(total) * share).rounded(.up)))
    for (index, count) in counts.enumerated() where count > 0 {
      guard left > UInt64(count) else { return Self.value(index) }
      left -= UInt64(count)
    }
    return Self.highest
  }

  var slowest: UInt64 {
    for index in counts.indices.reversed() where counts[index] > 0 { return Self.value(index) }
    return 0
  }

  private static func index(_ value: UInt64) -> Int {
    guard value >= UInt64(linear) else { return Int(value) }
    let shift = 53 - value.leadingZeroBitCount
    return linear + (shift - 1) * half + Int(value >> UInt64(shift)) - half
  }

  /// Returns the middle of a step, in microseconds.
  private static func value(_ index: Int) -> UInt64 {
    guard index >= linear else { return UInt64(index) }
    let (step, place) = ((index - linear) / half + 1, (index - linear) % half)
    return UInt64(half + place) << UInt64(step) + 1 << UInt64(step - 1)
  }
}
