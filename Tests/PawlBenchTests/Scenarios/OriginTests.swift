import PawlLoop
import PawlTestKit
import Testing

@testable import PawlBench

@Suite("Runs against the test origin", .timeLimit(.minutes(1))) struct OriginTests {
  private func run(
    _ path: String, _ scenario: RunSettings.Scenario, isHTTP2: Bool = false, operations: UInt64 = 6,
    change: (inout RunSettings) -> Void = { _ in }
  ) throws -> (result: RunResult, counts: String) {
    let origin = try Origin(listen: "127.0.0.1:0", threads: 1, core: nil)
    let url = "http://127.0.0.1:\(origin.port)"
    var settings = RunSettings(scenario: scenario, target: try Target(url + path))
    (settings.connections, settings.threads, settings.length) = (3, 2, .operations(operations))
    settings.referenceURL = try Target(url + "/bytes/100K")
    if case .upload = scenario { settings.referenceURL = nil }
    change(&settings)
    let result = try Run(settings, watchesSignals: false).perform()
    origin.stop()
    return (result, origin.countsText)
  }

  @Test("hits")
  func hits() throws {
    let (result, _) = try run("/bytes/100K", .hit)
    #expect(result.counts.completed == 6 && result.counts.failures == [:] && result.counts.verified == 614_400)
    #expect(result.latency.totalCount == 6 && result.samples.last?.completed == 6)
    #expect(result.scenario == "hit" && result.seconds > 0)
  }

  @Test("ranges, which it answers one by one")
  func ranges() throws {
    #expect(try run("/bytes/100K", .ranges(size: 1000, parts: 1)).result.counts.completed == 6)
    #expect(try run("/bytes/100K", .ranges(size: 1000, parts: 2)).result.counts.failures == ["status 200": 6])
  }

  @Test("bodies that nobody had")
  func fill() throws {
    let (result, counts) = try run("/bytes/100K/{n}", .fill(first: 1, readers: 1))
    #expect(result.counts.completed == 6 && result.counts.failures == [:])
    #expect(counts.contains("\"downloads\": 7"))  // one of them the reference
  }

  @Test("downloads are resumed where client or origin break off")
  func resume() throws {
    let (result, _) = try run("/bytes/100K?cut=30K", .resume(interruptions: 2))
    #expect(result.counts.completed == 6 && result.counts.failures == [:] && result.counts.verified == 614_400)
    #expect(result.counts.interruptions > 0)
    #expect(result.extras.contains { $0.name == "unplanned breaks survived" && $0.value > 0 })
  }

  @Test("cuts that nobody resumes are told")
  func cut() throws {
    #expect(try run("/bytes/100K?cut=30K", .hit).result.counts.failures == ["cut": 6])
  }

  @Test("uploads are counted and hashed")
  func upload() throws {
    let plan = UploadPlan(dialect: .plain, size: 300_000, interruptions: 1)
    let (result, counts) = try run("/in", .upload(plan))
    #expect(result.counts.completed == 6 && result.counts.verified == 1_800_000 && result.counts.interruptions == 6)
    #expect(counts.contains("\"uploads\": 6, \"received\": 1800000"))
  }
}
