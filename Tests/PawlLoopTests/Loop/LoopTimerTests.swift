import Testing

@testable import PawlLoop

@Suite("Loop timer", .timeLimit(.minutes(1))) struct LoopTimerTests {
  @Test("fires once, not early, by the system's clock")
  func firesOnce() throws {
    let clock = SystemClock()
    let loop = try EventLoop(index: 0, clock: clock)
    nonisolated(unsafe) var fired: [Monotonic] = []
    let timer = loop.makeTimer { fired.append(clock.now()) }
    #expect(!timer.isScheduled)
    let start = clock.now()
    timer.schedule(after: .milliseconds(7))
    #expect(timer.isScheduled)
    wait(loop) { !fired.isEmpty }
    #expect(!timer.isScheduled)
    #expect(try #require(fired.first) - start >= .milliseconds(7))
    #expect(fired.count == 1)
  }

  @Test("set later or earlier again, it goes by the last setting")
  func reschedules() throws {
    let clock = SystemClock()
    let loop = try EventLoop(index: 0, clock: clock)
    var order: [String] = []
    let postponed = loop.makeTimer { order.append("postponed") }
    let advanced = loop.makeTimer { order.append("advanced") }
    let cancelled = loop.makeTimer { order.append("cancelled") }
    postponed.schedule(after: .milliseconds(1))
    postponed.schedule(after: .milliseconds(20))
    advanced.schedule(after: .seconds(3600))
    advanced.schedule(after: .milliseconds(5))
    cancelled.schedule(after: .milliseconds(1))
    cancelled.cancel()
    #expect(!cancelled.isScheduled)
    wait(loop) { order.count == 2 }
    #expect(order == ["advanced", "postponed"])
  }

  @Test("cancelled and set again before its old alarm rings, it fires at the new time")
  func survivesCancel() throws {
    let loop = try EventLoop(index: 0)
    var count = 0
    let timer = loop.makeTimer { count += 1 }
    timer.schedule(after: .milliseconds(1))
    timer.cancel()
    timer.schedule(after: .zero)
    wait(loop) { count == 1 }
    #expect(!timer.isScheduled)
  }

  @Test("by a manual clock timers fire when it is advanced over their times, in the order of these")
  func followsManualClock() throws {
    let clock = ManualClock()
    let loop = try EventLoop(index: 0, clock: clock)
    nonisolated(unsafe) var order: [String] = []
    let late = loop.makeTimer { order.append("late") }
    let early = loop.makeTimer { order.append("early") }
    let never = loop.makeTimer { order.append("never") }
    late.schedule(after: .seconds(10))
    early.schedule(after: .seconds(5))
    never.schedule(after: .seconds(11))
    nonisolated(unsafe) var isThrough = false
    clock.advance(by: .milliseconds(4999))
    loop.run { isThrough = true }
    wait(loop) { isThrough }
    #expect(order.isEmpty)
    clock.advance(by: .milliseconds(5001))
    loop.run { isThrough = false }
    wait(loop) { !isThrough }
    #expect(order == ["early", "late"])
    #expect(never.isScheduled)
  }

  @Test("a timer may set, close or let go of itself while it fires")
  func endsItself() throws {
    let loop = try EventLoop(index: 0)
    final class Owner {
      var timer: LoopTimer?
      var count = 0
    }
    let owner = Owner()
    owner.timer = loop.makeTimer { [unowned owner] in
      owner.count += 1
      switch owner.count {
      case 1: owner.timer?.schedule(after: .zero)
      case 2:
        owner.timer?.close()
        owner.timer?.schedule(after: .zero)
        owner.timer = nil
      default: Issue.record("fired after its end")
      }
    }
    owner.timer?.schedule(after: .zero)
    wait(loop) { owner.timer == nil }
    #expect(owner.count == 2)
  }

  @Test("lets go of its closure when closed, and of its event when it goes")
  func releasesClosure() throws {
    final class Token {}
    let loop = try EventLoop(index: 0)
    weak var seen: Token?
    let timer: LoopTimer
    do {
      let token = Token()
      seen = token
      timer = loop.makeTimer { withExtendedLifetime(token) {} }
    }
    timer.schedule(after: .seconds(1))
    #expect(seen != nil)
    timer.close()
    #expect(seen == nil)
    do { loop.makeTimer { Issue.record("fired after its end") }.schedule(after: .zero) }
    var isThrough = false
    loop.nextTurn { loop.nextTurn { isThrough = true } }
    wait(loop) { isThrough }
  }
}
