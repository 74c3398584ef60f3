/// Pseudorandom numbers that are the same in each run with the same seed (SplitMix64).
struct RandomNumbers: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64, stream: UInt64) { state = seed &+ stream &* 0xd1b5_4a32_d192_ed03 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }

  /// Returns a number from 0 to `bound` - 1. `bound` is at least 1.
  mutating func next(below bound: UInt64) -> UInt64 { next().multipliedFullWidth(by: bound).high }
}
