import PawlConfig
import PawlObserve
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The outcome of a reload") struct ReloadOutcomeTests {
  private func logged(_ outcome: ReloadOutcome) -> [String] {
    let lines = TestLock<[String]>([])
    let events = EventLog { line in lines.withLock { $0.append(line) } }
    outcome.log(to: events)
    events.flush()
    return lines.withLock { $0 }.map { String($0.dropFirst(25)) }
  }

  @Test("is logged: each mistake, each change that needs a restart, and that the rest is in use")
  func events() {
    #expect(
      logged(ReloadOutcome(isApplied: true, needsRestart: ["p:3: [pawl] workers: w"])) == [
        #"warning reload-partial why="p:3: [pawl] workers: w""#, "notice reloaded",
      ])
    #expect(
      logged(ReloadOutcome(isApplied: false, mistakes: ["a", "b"])) == [
        "error reload-failed why=a", "error reload-failed why=b",
      ])
  }

  @Test("of a file that cannot be read has its errors, not its warnings")
  func invalid() {
    let place = ValueOrigin.file(path: "/p.ini", line: 4)
    let issues = [
      PawlConfig.Issue(at: place, section: "pawl", key: "workers", "wrong"),
      PawlConfig.Issue(.warning, at: place, section: "pawl", "odd"),
    ]
    #expect(
      ReloadOutcome(InvalidConfiguration(issues: issues))
        == ReloadOutcome(isApplied: false, mistakes: ["/p.ini:4: [pawl] workers: wrong"]))
  }
}
