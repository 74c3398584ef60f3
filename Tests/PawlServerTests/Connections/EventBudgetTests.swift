import PawlLoop
import Testing

@testable import PawlServer

@Suite("Lines in the log when peers misbehave by the thousand") struct EventBudgetTests {
  @Test("so many are written in a stretch of time, then the next one tells how many were not")
  func budget() {
    var budget = EventBudget()
    func ask(_ now: Monotonic) -> EventBudget.Verdict { budget.ask(at: now) }
    let start = Monotonic(nanoseconds: 1_000_000_000)
    for _ in 0..<EventBudget.lines { #expect(ask(start) == .say(left: 0)) }
    for _ in 0..<7 { #expect(ask(start) == .leaveOut) }
    let almost = start.advanced(by: EventBudget.stretch - .nanoseconds(1))
    #expect(ask(almost) == .leaveOut)
    let next = start.advanced(by: EventBudget.stretch)
    #expect(ask(next) == .say(left: 8))
    #expect(ask(next) == .say(left: 0))
    for _ in 2..<EventBudget.lines { #expect(ask(next) == .say(left: 0)) }
    #expect(ask(next) == .leaveOut)
  }
}
