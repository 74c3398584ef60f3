import PawlTestKit
import Testing

@testable import PawlObserve

@Suite("Counters of a loop") struct LoopCountersTests {
  @Test("each counter has a cell of its own")
  func apart() {
    let counters = LoopCounters()
    for (index, counter) in LoopCounter.allCases.enumerated() { counters.add(counter, UInt64(index + 1)) }
    for (index, counter) in LoopCounter.allCases.enumerated() { #expect(counters.value(counter) == UInt64(index + 1)) }
    for status in StatusClass.allCases {
      for outcome in CacheOutcome.allCases { #expect(counters.requests(status, outcome) == 0) }
    }
    for histogram in LoopCounters.Histogram.allCases { #expect(counters.histogram(histogram) == TimeHistogram()) }
    #expect(counters.longestTurn == 0)
  }

  @Test("a hit is a request, bytes from the cache, an end, and two times")
  func hit() {
    let counters = LoopCounters()
    counters.addHit(bytes: 1024, microseconds: 100)
    counters.addRequest(StatusClass(206), .hit)
    #expect(counters.requests(.success, .hit) == 2)
    #expect(counters.value(.toClientFromCache) == 1024 && counters.value(.endedDone) == 1)
    for histogram in [LoopCounters.Histogram.requestDuration, .firstByte] {
      #expect(counters.histogram(histogram).sum == 100 && counters.histogram(histogram).count == 1)
    }
    #expect(counters.histogram(.turn).count == 0)
  }

  @Test("the longest turn is kept")
  func turns() {
    let counters = LoopCounters()
    for time in [5, 700, 6] as [UInt64] { counters.addTurn(microseconds: time) }
    #expect(counters.longestTurn == 700 && counters.histogram(.turn).count == 3)
  }

  @Test("a reader on another thread sees counts that never go down, and at the end all of them")
  func threads() {
    let counters = LoopCounters()
    let isOver = TestLock(false)
    let reader = TestThread {
      var last: UInt64 = 0
      while !isOver.withLock({ $0 }) {
        let now = counters.value(.accepted)
        #expect(now >= last)
        last = now
      }
    }
    for _ in 0..<100_000 { counters.add(.accepted) }
    isOver.withLock { $0 = true }
    reader.join()
    #expect(counters.value(.accepted) == 100_000)
  }

  @Test("classes of a status")
  func classes() {
    let statuses = [
      0: StatusClass.none, 99: .none, 101: .informational, 200: .success, 299: .success, 304: .redirection,
      404: .clientError, 500: .serverError, 599: .serverError, 600: .none,
    ]
    for (status, kind) in statuses { #expect(StatusClass(status) == kind) }
  }

  @Test("counters of an upstream have cells of their own")
  func upstream() {
    let counters = UpstreamCounters()
    counters.add(.bytesSent, 3)
    counters.addFailure(.other)
    counters.addDefect(.rangeIgnored)
    counters.addResponse(503, microseconds: 70)
    counters.addResponse(200, microseconds: nil)
    #expect(counters.value(.bytesSent) == 3 && counters.value(.requests) == 0)
    #expect(OriginFailureKind.allCases.map { counters.failures($0) } == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    #expect(OriginDefect.allCases.map { counters.defects($0) } == [1, 0, 0, 0, 0])
    #expect(StatusClass.allCases.map { counters.responses($0) } == [0, 0, 1, 0, 0, 1])
    #expect(counters.firstByte.sum == 70 && counters.firstByte.count == 1)
  }
}
