import Testing

@testable import PawlBench

@Suite("Figures of a result") struct ReportFiguresTests {
  @Test("are worked out from the counts")
  func derived() {
    let result = MadeUpResults.small
    #expect(result.requestsPerSecond.value == 500 && result.throughput.value == 512_000)
    #expect(result.failed == 3 && result.bytes == 1_024_000)
    #expect(result.cpuPerRequest.text == "5.50 µs" && result.cpuPerGigabyte.text == "5.37 s")
    #expect(result.memoryPeak.text == "12 MiB")
    #expect(result.figures.map(\.kind) == [.load, .latency, .firstByte, .server, .failures, .extras])
  }

  @Test("that were not measured have no value")
  func unknown() {
    let result = RunResult(scenario: "upload", label: "a", url: "http://a/", startedAt: 0)
    #expect(result.figures.map(\.kind) == [.load])
    #expect(result.cpuPerRequest.value == nil && result.requestsPerSecond.text == "–")
    #expect(result.figures(of: .load).first?.name == "uploads completed")
  }

  @Test(
    "name a percentile only where there are enough values for it",
    arguments: [(1, 0), (2, 1), (4, 2), (10, 3), (99, 3), (100, 4), (1000, 5), (9999, 5), (10_000, 6)])
  func percentiles(_ count: Int, _ told: Int) {
    var result = MadeUpResults.small
    result.latency.reset()
    for value in 1...count { result.latency.record(UInt64(value)) }
    let names = RunResult.percentiles.prefix(told).map(\.name) + ["max"]
    #expect(result.figures(of: .latency).map(\.name) == names)
  }

  @Test("name sent content and interruptions only where there were any")
  func optional() {
    var result = MadeUpResults.small
    (result.counts.sent, result.counts.received, result.counts.interruptions) = (2048, 0, 7)
    let names = result.figures(of: .load).map(\.name)
    #expect(
      names.contains("content sent") && !names.contains("content received") && names.contains("interruptions made"))
  }

  @Test("are compared by their ratio, where there is one")
  func ratio() {
    let (two, four) = (ReportFigure("a", 2.0, .count), ReportFigure("a", 4.0, .count))
    #expect(two.ratio(to: four) == 0.5 && four.ratio(to: two) == 2)
    #expect(two.ratio(to: nil) == nil && two.ratio(to: ReportFigure("a", 0.0, .count)) == nil)
    #expect(ReportFigure("a", nil, .count).ratio(to: two) == nil)
  }

  @Test(
    "call what a scenario counts by its name",
    arguments: [
      ("hit", "Cached hits", "requests"), ("ranges", "Random ranges", "requests"), ("fill", "Cold fills", "downloads"),
      ("resume", "Interrupted downloads", "downloads"), ("upload", "Uploads", "uploads"),
      ("idle", "Idle connections", "connections"), ("new", "new", "requests"),
    ])
  func words(_ scenario: String, _ title: String, _ many: String) {
    #expect(ScenarioWords(scenario).title == title && ScenarioWords(scenario).many == many)
  }
}
