import PawlLoop
import Testing

@testable import PawlServer

@Suite("The rate of a transfer") struct TransferSampleTests {
  private let began = Monotonic(nanoseconds: 5_000_000_000)
  private func at(_ milliseconds: Int64) -> Monotonic { began.advanced(by: .milliseconds(milliseconds)) }

  @Test("is the average since it began at the first look, then that between two looks")
  func rate() {
    var sample = TransferSample()
    #expect(sample.look(0, began: began, now: began) == 0)
    #expect(sample.look(1000, began: began, now: at(500)) == 2000)
    #expect(sample.look(4000, began: began, now: at(2000)) == 2000)
    // Less than a second later, the rate stays.
    #expect(sample.look(9000, began: began, now: at(2999)) == 2000)
    #expect(sample.look(9000, began: began, now: at(3000)) == 5000)
    #expect(sample.look(9000, began: began, now: at(8000)) == 0)
  }

  @Test("of bytes that were taken back is 0, and no number is too large")
  func ends() {
    var sample = TransferSample()
    _ = sample.look(1000, began: began, now: at(1000))
    #expect(sample.look(10, began: began, now: at(2000)) == 0)
    #expect(sample.look(.max, began: began, now: at(3000)) == UInt64.max - 10)
  }
}
