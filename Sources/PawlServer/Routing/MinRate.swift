/// Counts the request content of one window of `min-rate`.
struct RateMeter {
  private(set) var received: UInt64 = 0
  mutating func add(_ count: Int) { received += UInt64(count) }
  mutating func restart() { received = 0 }
  func isFastEnough(_ rate: MinRate) -> Bool { received >= rate.bytes }
}

/// `min-rate`: the least bytes of request content in each window of time.
struct MinRate: Hashable, Sendable {
  var bytes: UInt64
  var window: Duration
  static let `default` = MinRate(bytes: 1024, window: .seconds(60))
}
