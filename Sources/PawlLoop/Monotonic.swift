/// A point on a clock that never runs backwards (`CLOCK_MONOTONIC`); its zero means nothing.
package struct Monotonic: Comparable, Hashable, Sendable {
  package var nanoseconds: UInt64

  package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// Stays within the clock's ends instead of overflowing.
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

  /// Whole microseconds since `earlier`; 0 when that is the later one.
  package func microseconds(since earlier: Monotonic) -> UInt64 {
    self > earlier ? (nanoseconds - earlier.nanoseconds) / 1000 : 0
  }

  package static func < (left: Monotonic, right: Monotonic) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The time from `right` to `left`; negative when `left` is the earlier one.
  package static func - (left: Monotonic, right: Monotonic) -> Duration {
    let distance = left > right ? left.nanoseconds - right.nanoseconds : right.nanoseconds - left.nanoseconds
    let magnitude = Duration.nanoseconds(Int64(clamping: distance))
    return left >= right ? magnitude : .zero - magnitude
  }
}

extension Duration {
  /// In nanoseconds, rounded towards zero and held within ± 292 years.
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return carry ? (seconds < 0 ? .min : .max) : sum
  }
}
