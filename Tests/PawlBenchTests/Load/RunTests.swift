import PawlTestKit
import Testing

@testable import PawlBench

@Suite("A run", .timeLimit(.minutes(1))) struct RunTests {
  private final class Recorder: RunObserver {
    var story: [String] = []
    var samples: [RunResult.Sample] = []
    func runBegan(_ plan: RunPlan) { story.append("\(plan.scenario) \(plan.operation) \(plan.label)") }
    func sample(_ sample: RunResult.Sample) { samples.append(sample) }
    func runEnded(_ result: RunResult) { story.append("ended \(result.counts.completed)") }
  }

  private func settings(_ path: String, _ origin: Origin) throws -> RunSettings {
    var settings = RunSettings(scenario: .hit, target: try Target("http://127.0.0.1:\(origin.port)\(path)"))
    (settings.connections, settings.label) = (2, "server")
    return settings
  }

  @Test("of seconds ends by itself, after its warm-up; who follows it is told of its plan, samples and end")
  func seconds() throws {
    let origin = try Origin(listen: "127.0.0.1:0", threads: 2, core: nil)
    defer { origin.stop() }
    var settings = try settings("/bytes/1K?delay=1", origin)
    (settings.length, settings.warmUp, settings.rate) = (.seconds(0.2), 0.01, 100)
    let recorder = Recorder()
    let result = try Run(settings, observer: recorder, watchesSignals: false).perform()
    #expect(result.counts.completed > 0 && result.counts.failures == [:] && result.seconds >= 0.2)
    #expect(recorder.story == ["hit request server", "ended \(result.counts.completed)"])
    #expect(recorder.samples == result.samples && !result.samples.isEmpty)
    #expect(result.extras.contains { $0.name == "due but not begun" })
    #expect(result.settings.contains { $0 == ("rate", "100.0/s") })
  }

  @Test("that cannot begin says why")
  func problems() throws {
    let port = ScriptedOrigin.closedPort()
    let closed = RunSettings(scenario: .hit, target: try Target("http://127.0.0.1:\(port)/"))
    #expect(throws: RunProblem("127.0.0.1:\(port): connection refused")) {
      try Run(closed, watchesSignals: false).perform()
    }
    #expect(throws: RunProblem.self) { try Origin(listen: "nowhere", threads: 1, core: nil) }
  }

  @Test("shares connections and operations among its threads; readers of a body stay together")
  func shares() throws {
    var settings = RunSettings(scenario: .hit, target: try Target("http://a/"))
    (settings.connections, settings.threads, settings.length) = (8, 3, .operations(10))
    let shares = (0..<3).map { settings.share(of: $0) }
    #expect(shares.map(\.connections) == [3, 3, 2] && shares.map(\.before) == [0, 3, 6])
    #expect(shares.map(\.operations) == [4, 3, 3])
    settings.scenario = .fill(first: 1, readers: 4)
    settings.threads = 2
    settings.length = .seconds(1)
    #expect((0..<2).map { settings.share(of: $0).connections } == [4, 4])
    #expect(settings.share(of: 1).operations == nil && settings.share(of: 1).before == 4)
  }
}
