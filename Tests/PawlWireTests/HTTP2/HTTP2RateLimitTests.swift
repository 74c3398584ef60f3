import Testing

@testable import PawlWire

@Suite("A rate with a burst") struct HTTP2RateLimitTests {
  private let second: Int64 = 1_000_000_000

  @Test("gives its burst, then so many a second, and never more than a burst at once")
  func rate() {
    var limit = HTTP2RateLimit(HTTP2Rate(burst: 3, perSecond: 2))
    func taken(_ count: Int, at now: Int64) -> [Bool] {
      var taken: [Bool] = []
      for _ in 0..<count { taken.append(limit.take(at: now)) }
      return taken
    }
    #expect(taken(4, at: 5 * second) == [true, true, true, false])
    #expect(taken(1, at: 5 * second + second / 2 - 1) == [false])
    #expect(taken(2, at: 5 * second + second / 2) == [true, false])
    #expect(taken(2, at: 6 * second) == [true, false])
    #expect(taken(4, at: 1000 * second) == [true, true, true, false])
    #expect(taken(4, at: .max) == [true, true, true, false])
  }

  @Test("keeps what is earned until it is taken, within sixteen bursts")
  func earned() {
    var limit = HTTP2RateLimit(HTTP2Rate(burst: 1, perSecond: 0))
    limit.earn(10)
    limit.earn(10)
    var taken: [Bool] = []
    for _ in 0..<18 { taken.append(limit.take(at: 0)) }
    #expect(taken == (0..<18).map { $0 < 17 })
  }

  @Test("does not run backwards")
  func backwards() {
    var limit = HTTP2RateLimit(HTTP2Rate(burst: 1, perSecond: 1))
    let taken = [limit.take(at: 10 * second), limit.take(at: 0), limit.take(at: second)]
    #expect(taken == [true, false, true])
  }
}
