import Testing

@testable import PawlLoop

@Suite("Monotonic time") struct MonotonicTests {
  private func at(_ nanoseconds: UInt64) -> Monotonic { Monotonic(nanoseconds: nanoseconds) }

  @Test("moves by durations and stays within its ends")
  func advances() {
    #expect(at(5).advanced(by: .seconds(2)) == at(2_000_000_005))
    #expect(at(5).advanced(by: .nanoseconds(-3)) == at(2))
    #expect(at(5).advanced(by: .seconds(-1)) == at(0))
    #expect(at(.max).advanced(by: .seconds(1)) == at(.max))
    #expect(at(0).advanced(by: .seconds(Int64.max)) == at(UInt64(Int64.max)))
  }

  @Test("the difference is signed")
  func subtracts() {
    #expect(at(7) - at(3) == .nanoseconds(4))
    #expect(at(3) - at(7) == .nanoseconds(-4))
    #expect(at(.max) - at(0) == .nanoseconds(Int64.max))
    #expect(at(3) < at(7))
  }
}
