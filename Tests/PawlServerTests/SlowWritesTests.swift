import PawlLoop
import Testing

@testable import PawlServer

@Suite("Slow writes") struct SlowWritesTests {
  private let start = Monotonic(nanoseconds: 5_000_000_000)

  @Test("are expected after one that took as long as the patience lasts, not after one that was a moment faster")
  func limit() {
    var writes = SlowWrites()
    #expect(!writes.areExpected(at: start))
    writes.note(from: start, to: start.advanced(by: SlowWrites.patience - .nanoseconds(1)))
    #expect(!writes.areExpected(at: start.advanced(by: SlowWrites.patience)))
    writes.note(from: start, to: start.advanced(by: SlowWrites.patience))
    #expect(writes.areExpected(at: start.advanced(by: SlowWrites.patience)))
  }

  @Test("are expected for a while after the last, and fast ones in between change nothing")
  func memory() {
    var writes = SlowWrites()
    let slow = start.advanced(by: .seconds(1))
    writes.note(from: start, to: slow)
    writes.note(from: slow, to: slow.advanced(by: .microseconds(20)))
    #expect(writes.areExpected(at: slow.advanced(by: SlowWrites.memory - .nanoseconds(1))))
    #expect(!writes.areExpected(at: slow.advanced(by: SlowWrites.memory)))
    writes.note(from: slow, to: slow.advanced(by: .seconds(3)))
    #expect(writes.areExpected(at: slow.advanced(by: .seconds(3) + SlowWrites.memory - .nanoseconds(1))))
  }
}
