/// A point in time on a clock that never runs backwards (`CLOCK_MONOTONIC`). Its zero has no meaning.
package struct Monotonic: Comparable, Hashable, Sendable {
  package var nanoseconds: UInt64

  package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// Returns the time `duration` later. The result is clamped to the range of the clock instead of overflowing.
  package func advanced(by duration: Duration) -> Monotonic {
    let step = duration.wholeNanoseconds
    let (sum, overflow) =
      step < 0
      ? nanoseconds.subtractingReportingOverflow(step.magnitude)
      : nanoseconds.addingReportingOverflow(step.magnitude)
    return Monotonic(nanoseconds: overflow ? (step < 0 ? 0 : .max) : sum)
  }

  /// Whole seconds since the clock's zero.
  package var seconds: UInt64 { nanoseconds / 1_000_000_000 }

  /// Whole microseconds from `earlier` to this time; 0 if `earlier` is in fact later.
  package func microseconds(since earlier: Monotonic) -> UInt64 {
    self > earlier ? (nanoseconds - earlier.nanoseconds) / 1000 : 0
  }

  package static func < (left: Monotonic, right: Monotonic) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The time from `right` to `left`; negative if `left` is earlier.
  package static func - (left: Monotonic, right: Monotonic) -> Duration {
    let distance = left > right ? left.nanoseconds - right.nanoseconds : right.nanoseconds - left.nanoseconds
    let magnitude = Duration.nanoseconds(Int64(clamping: distance))
    return left >= right ? magnitude : .zero - magnitude
  }
}

extension Duration {
  /// The duration in nanoseconds, rounded towards zero and clamped to ± 292 years.
  ///
  /// The computation takes one division of 128 by 64 bits. ``components`` would take two divisions of 128 by 128 bits, each time
  /// a deadline is set.
  package var wholeNanoseconds: Int64 {
    let magnitude = attoseconds.magnitude
    let perNanosecond: UInt64 = 1_000_000_000
    let isNegative = attoseconds < 0
    let high = UInt64(truncatingIfNeeded: magnitude >> 64)
    guard high < perNanosecond else { return isNegative ? .min : .max }
    let whole = perNanosecond.dividingFullWidth((high, UInt64(truncatingIfNeeded: magnitude))).quotient
    guard let bounded = Int64(exactly: whole) else { return isNegative ? .min : .max }
    return isNegative ? -bounded : bounded
  }
}
