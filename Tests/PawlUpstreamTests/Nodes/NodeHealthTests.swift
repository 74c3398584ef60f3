import PawlLoop
import Testing

@testable import PawlUpstream

@Suite("The health of one node") struct NodeHealthTests {
  private let start = Monotonic(nanoseconds: 1_000_000_000_000)

  @Test(
    "rests",
    arguments: [(0, 32, 1), (1, 32, 1), (2, 32, 2), (3, 32, 4), (6, 32, 32), (7, 32, 32), (1000, 32, 32), (9, 60, 60)])
  func pauses(_ failures: Int, _ most: Int, _ seconds: Int) {
    #expect(NodeHealth.pause(failures: failures, atMost: .seconds(most)) == .seconds(seconds))
  }

  @Test("rests until the very moment")
  func edge() {
    var health = NodeHealth()
    health.failed(at: start, maxRest: .milliseconds(500))
    let end = start.advanced(by: .milliseconds(500))
    #expect(health.rest(at: end.advanced(by: .nanoseconds(-1))) == .until(end))
    #expect(health.rest(at: end) == .none)
    #expect(!health.isWell)
    health.worked(since: end)
    #expect(health.isWell)
  }

  @Test("errors in a row: one below the limit, the limit, one path")
  func streak() {
    var streak = ErrorStreak()
    let several = (0..<4).map { streak.takes(UInt64($0), limit: 4) }
    #expect(several == [false, false, false, true])
    var single = ErrorStreak()
    let one = (0..<9).map { _ in single.takes(7, limit: 4) }
    #expect(one == Array(repeating: false, count: 9))
    let second = single.takes(8, limit: 4)
    #expect(second)
  }

  @Test("checks: contrary ones have to stand in a row")
  func checks() {
    var health = NodeHealth()
    for passed in [false, true, false, true] { health.checked(passed: passed, fall: 2, rise: 3) }
    #expect(health.rest(at: start) == .none)
    for _ in 0..<2 { health.checked(passed: false, fall: 2, rise: 3) }
    #expect(health.rest(at: start) == .failsChecks)
    for passed in [true, true, false, true, true] { health.checked(passed: passed, fall: 2, rise: 3) }
    #expect(health.rest(at: start) == .failsChecks)
    health.failed(at: start, maxRest: .seconds(32))
    health.checked(passed: true, fall: 2, rise: 3)
    #expect(health.isWell, "what checks have brought back has a new beginning")
  }
}
