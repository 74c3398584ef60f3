@testable import PawlBench

/// Results as runs might have them; the same seed gives the same.
enum MadeUpResults {
  /// Every kind of fact once, in numbers that can be worked out by hand.
  static var small: RunResult {
    var result = RunResult(
      scenario: "hit", label: "pawl", url: "http://127.0.0.1:8080/1k", startedAt: 1_795_293_530_123)
    result.settings = [("connections", "64"), ("protocol", "HTTP/1.1")]
    result.seconds = 2
    result.counts.requests = 1003
    result.counts.completed = 1000
    result.counts.failures = ["timeout": 1, "status 503": 2]
    result.counts.connections = 65
    result.counts.received = 1_024_000
    result.counts.verified = 1_024_000
    for value in 1...1000 as ClosedRange<UInt64> { result.latency.record(value) }
    result.latency.record(50_003)
    for value in 1...900 as ClosedRange<UInt64> { result.firstByte.record(value) }
    result.process = .init(processes: 2, user: 0.002, system: 0.0035, before: 10 << 20, peak: 12 << 20, after: 11 << 20)
    result.extras = [.init("bytes sent again", 65_536, "B"), .init("rounds", 2.5)]
    var first = RunResult.Sample(time: 1, completed: 600, failed: 3, bytes: 614_400)
    (first.median, first.p99, first.slowest, first.cpu, first.memory) = (500, 990, 1000, 0.003, 12 << 20)
    var second = RunResult.Sample(time: 2, completed: 400, bytes: 409_600)
    (second.median, second.p99, second.slowest) = (510, 995, 50_003)
    result.samples = [first, second]
    return result
  }

  static func large(_ label: String, seed: UInt64, seconds: Int = 30, scenario: String = "hit") -> RunResult {
    var random = Random(state: seed)
    var result = RunResult(scenario: scenario, label: label, url: "http://\(label)/", startedAt: 1_795_293_530_000)
    result.seconds = Double(seconds)
    for time in 1...seconds {
      var sample = RunResult.Sample(time: Double(time), completed: 100, bytes: 102_400)
      for _ in 0..<100 {
        let value = 200 + random.next() % 800 + (random.next() % 50 == 0 ? random.next() % 90_000 : 0)
        result.latency.record(value)
        result.firstByte.record(value / 2)
        sample.slowest = max(sample.slowest, value)
      }
      (sample.median, sample.p99) = (600 + random.next() % 50, 990 + random.next() % 100)
      (sample.cpu, sample.memory) = (Double(random.next() % 100) / 100, 10 << 20 + random.next() % 65_536)
      result.samples.append(sample)
    }
    result.counts.completed = UInt64(seconds * 100)
    result.counts.requests = result.counts.completed
    result.counts.received = UInt64(seconds * 102_400)
    result.process = .init(processes: 1, user: 1, system: 2, before: 10 << 20, peak: 11 << 20, after: 10 << 20)
    return result
  }

  private struct Random {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }
  }
}
