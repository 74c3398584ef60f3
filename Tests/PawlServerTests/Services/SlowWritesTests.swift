import PawlLoop
import Testing

@testable import PawlServer

@Suite("Slow writes") struct SlowWritesTests {
  private let start = Monotonic(nanoseconds: 5_000_000_000)
  private func after(_ time: Duration) -> Monotonic { start.advanced(by: time) }

  @Test("are expected when one took as long as the patience lasts, not when it was a moment faster")
  func limit() {
    var writes = SlowWrites()
    #expect(!writes.areExpected(at: start))
    writes.note(SlowWrites.patience - .nanoseconds(1), at: start)
    #expect(!writes.areExpected(at: start))
    writes = SlowWrites()
    writes.note(SlowWrites.patience, at: start)
    #expect(writes.areExpected(at: start))
  }

  @Test("are expected when several within a second took as long together; short ones do not count")
  func sum() {
    var writes = SlowWrites()
    for index in 0..<49 { writes.note(SlowWrites.least, at: after(.milliseconds(index * 20))) }
    for _ in 0..<10_000 { writes.note(SlowWrites.least - .nanoseconds(1), at: after(.milliseconds(990))) }
    #expect(!writes.areExpected(at: after(.milliseconds(990))))
    writes.note(SlowWrites.least, at: after(.milliseconds(999)))
    #expect(writes.areExpected(at: after(.milliseconds(999))))
  }

  @Test("are not expected where as much is lost over a longer time")
  func stretch() {
    var writes = SlowWrites()
    for index in 0..<100 {
      writes.note(SlowWrites.patience - .nanoseconds(1), at: after(SlowWrites.stretch * index))
      #expect(!writes.areExpected(at: after(SlowWrites.stretch * index)))
    }
  }

  @Test("are expected for a while after the last, and fast ones in between change nothing")
  func memory() {
    var writes = SlowWrites()
    writes.note(.seconds(1), at: start)
    writes.note(.microseconds(20), at: after(.seconds(3)))
    #expect(writes.areExpected(at: after(SlowWrites.memory - .nanoseconds(1))))
    #expect(!writes.areExpected(at: after(SlowWrites.memory)))
    writes.note(.seconds(1), at: after(.seconds(3)))
    #expect(writes.areExpected(at: after(.seconds(3) + SlowWrites.memory - .nanoseconds(1))))
    #expect(!writes.areExpected(at: after(.seconds(3) + SlowWrites.memory)))
  }
}
