/// The buckets of all histograms of times. The upper bounds are the powers of two from 64 microseconds to 134 seconds, so that
/// a bucket is found without a search, and histograms of different things can be compared.
package enum TimeBuckets {
  /// The exponent of the first upper bound, 64 microseconds.
  static let firstExponent = 6
  /// The number of buckets, with the last one, which has no upper bound.
  package static let count = 23

  /// Returns the bucket of a time. A time equal to an upper bound belongs to that bound's bucket, as Prometheus has it.
  @inlinable @inline(__always)
  package static func index(ofMicroseconds time: UInt64) -> Int {
    // The number of bits of `time - 1` is the exponent of the smallest power of two that is not below `time`.
    let exponent = 64 - (time &- (time == 0 ? 0 : 1)).leadingZeroBitCount
    return min(max(exponent - 6, 0), 22)
  }

  /// Returns the upper bound of a bucket, in microseconds; `nil` for the last one.
  package static func upperBound(of index: Int) -> UInt64? {
    index < count - 1 ? 1 << UInt64(firstExponent + index) : nil
  }
}

/// The counts of one histogram, read from the cells of one or several threads.
package struct TimeHistogram: Hashable, Sendable {
  /// The number of times in each bucket, not cumulated.
  package var buckets = [UInt64](repeating: 0, count: TimeBuckets.count)
  /// The sum of all times, in microseconds.
  package var sum: UInt64 = 0
  package var count: UInt64 { buckets.reduce(0, &+) }

  package init() {}

  package mutating func add(_ other: TimeHistogram) {
    for index in buckets.indices { buckets[index] &+= other.buckets[index] }
    sum &+= other.sum
  }
}

extension CounterCells {
  /// The number of cells of one histogram: its buckets, then the sum.
  package static let histogramCells = TimeBuckets.count + 1

  /// Counts a time in the histogram whose cells begin at `start`.
  @inlinable @inline(__always)
  package func observe(_ start: Int, microseconds: UInt64) {
    add(start + TimeBuckets.index(ofMicroseconds: microseconds), 1)
    add(start + 23, UInt(truncatingIfNeeded: microseconds))
  }

  func histogram(at start: Int) -> TimeHistogram {
    var histogram = TimeHistogram()
    for index in 0..<TimeBuckets.count { histogram.buckets[index] = UInt64(load(start + index)) }
    histogram.sum = UInt64(load(start + TimeBuckets.count))
    return histogram
  }
}
