import Testing

@testable import PawlBench

@Suite("When operations are due") struct PacerTests {
  @Test("at even distances from the start, whatever the clock does in between")
  func even() {
    var pacer = Pacer(rate: 1000, start: 5_000_000, worker: 0, workers: 1)
    #expect(pacer.take(at: 4_999_999) == nil)
    #expect(pacer.take(at: 5_000_000) == 5_000_000)
    #expect(pacer.take(at: 5_999_999) == nil)
    #expect(pacer.waiting(at: 5_999_999) == 0 && pacer.waiting(at: 8_000_000) == 3)
    // Three were due while nobody could take them: they keep their times.
    #expect((0..<4).map { _ in pacer.take(at: 8_000_000) } == [6_000_000, 7_000_000, 8_000_000, nil])
  }

  @Test("workers take turns")
  func workers() {
    let pacers = (0..<4).map { Pacer(rate: 1000, start: 0, worker: $0, workers: 4) }
    #expect(pacers.map(\.next) == [0, 1_000_000, 2_000_000, 3_000_000])
    var first = pacers[0]
    #expect(first.take(at: 10) == 0 && first.next == 4_000_000)
  }
}
