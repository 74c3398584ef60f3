import PawlLoop

/// What the list of transfers remembers of a transfer from one look to the next: its number, and how fast it is.
struct TransferSample {
  /// The least time over which a rate is measured.
  static let window = Duration.seconds(1)

  /// The number by which the list knows the transfer on its loop; 0: it was not listed yet.
  var number: UInt32 = 0
  /// Bytes a second: between the last two looks that were at least a ``window`` apart.
  private(set) var rate: UInt64 = 0
  private var bytes: UInt64 = 0
  private var at: Monotonic?

  /// Notes how far the transfer has come, and returns its rate. At the first look that is the average since it began.
  mutating func look(_ done: UInt64, began: Monotonic, now: Monotonic) -> UInt64 {
    let elapsed = now - (at ?? began)
    guard at == nil || elapsed >= Self.window else { return rate }
    let microseconds = UInt64(max(0, elapsed.wholeNanoseconds / 1000))
    let gained = done - min(done, bytes)
    let (product, overflow) = gained.multipliedReportingOverflow(by: 1_000_000)
    rate = microseconds == 0 ? 0 : overflow ? gained / max(1, microseconds / 1_000_000) : product / microseconds
    if elapsed >= Self.window { (bytes, at) = (done, now) }
    return rate
  }
}
