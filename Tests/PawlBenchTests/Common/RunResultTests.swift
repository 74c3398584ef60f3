import Testing

@testable import PawlBench

@Suite("The result of a run") struct RunResultTests {
  @Test("starts with nothing measured")
  func empty() {
    let result = RunResult(scenario: "hit", label: "a", url: "http://a/", startedAt: 0)
    #expect(result.counts.completed == 0 && result.latency.totalCount == 0)
  }
}
