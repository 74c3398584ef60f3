import PawlLoop
import PawlObserve
import PawlTestKit
import Testing

@testable import PawlDisk

@Suite("Failures that come by the thousand") struct FailureLogTests {
  @Test("each kind is told of once a minute, with how many there were since")
  func once() {
    let clock = ManualClock()
    let log = FailureLog(events: EventLog { _ in }, clock: clock)
    #expect(log.due("a") == 0 && log.due("b") == 0)
    #expect(log.due("a") == nil && log.due("a") == nil)
    clock.advance(by: .seconds(59))
    #expect(log.due("a") == nil)
    clock.advance(by: .seconds(1))
    #expect(log.due("a") == 3 && log.due("a") == nil && log.due("b") == 0)
  }

  @Test("of what names something else each time a few are told of each minute, and the one after them is counted")
  func few() {
    let clock = ManualClock()
    let log = FailureLog(events: EventLog { _ in }, clock: clock)
    for _ in 1...FailureLog.few { #expect(log.due("a", atMost: FailureLog.few) == 0) }
    #expect(log.due("a", atMost: FailureLog.few) == nil)
    clock.advance(by: .seconds(60))
    #expect(log.due("a", atMost: FailureLog.few) == 1 && log.due("a", atMost: FailureLog.few) == 0)
  }

  @Test("beyond so many kinds nothing is told until some are old enough to be forgotten")
  func limit() {
    let clock = ManualClock()
    let log = FailureLog(events: EventLog { _ in }, clock: clock)
    for kind in 0..<FailureLog.limit { #expect(log.due("\(kind)") == 0) }
    #expect(log.due("more") == nil)
    clock.advance(by: .seconds(60))
    #expect(log.due("more") == 0)
  }

  @Test("an event is logged with the number of those that were left out; below the level nothing is counted")
  func logs() {
    let (clock, lines) = (ManualClock(), TestLock<[String]>([]))
    let events = EventLog(level: .info) { line in lines.withLock { $0.append(String(line.dropFirst(25))) } }
    let log = FailureLog(events: events, clock: clock)
    log.log(.debug, "hidden", of: "a", ["n": "0"])
    for number in 1...3 { log.log(.warning, "failed", of: "a", ["n": "\(number)"]) }
    clock.advance(by: .seconds(60))
    log.log(.warning, "failed", of: "a", ["n": "4"])
    events.flush()
    #expect(lines.withLock { $0 } == ["warning failed n=1 omitted=0", "warning failed n=4 omitted=2"])
  }
}
