import Testing

@testable import PawlLoop

@Suite("Precise timer", .timeLimit(.minutes(1))) struct PreciseTimerTests {
  @Test("rings at its start and from then on, never early, until it is closed")
  func rings() throws {
    let clock = SystemClock()
    let loop = try EventLoop(index: 0, clock: clock)
    let start = clock.now().advanced(by: .milliseconds(2))
    var times: [Monotonic] = []
    let timer = try PreciseTimer(loop, start: start, every: .microseconds(300)) { times.append(clock.now()) }
    wait(loop) { times.count >= 3 }
    timer.close()
    for (index, time) in times.enumerated() {
      #expect(time - start >= .microseconds(300 * index))
    }
    let count = times.count
    var isOver = false
    let end = loop.makeTimer { isOver = true }
    end.schedule(after: .milliseconds(2))
    wait(loop) { isOver }
    #expect(times.count == count)
  }
}
