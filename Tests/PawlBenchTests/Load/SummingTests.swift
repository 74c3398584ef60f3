import Testing

@testable import PawlBench

@Suite("What a run found, added up") struct SummingTests {
  private final class Meter: ProcessMeter {
    var readings: [ProcessReading]
    init(_ readings: [ProcessReading]) { self.readings = readings }
    func read() -> ProcessReading? { readings.isEmpty ? nil : readings.removeFirst() }
  }

  private static let second: UInt64 = 1_000_000_000

  private func settings(_ scenario: RunSettings.Scenario) throws -> RunSettings {
    RunSettings(scenario: scenario, target: try Target("http://a.example/"))
  }

  private func tally(_ completed: UInt64, _ failures: [Failure: UInt64] = [:], latency: UInt64 = 100) -> Tally {
    var tally = Tally()
    (tally.completed, tally.failures, tally.exchanges) = (completed, failures, completed)
    for _ in 0..<completed { tally.latency.record(latency) }
    return tally
  }

  @Test("seconds become samples, and all of them the result")
  func adds() throws {
    var sum = Summing(try settings(.hit), nil)
    sum.look()
    sum.begin(at: 10 * Self.second, wall: 1234)
    #expect(sum.nextSecond(after: 10 * Self.second + 250) == Self.second - 250)
    let first = sum.add(tally(3), at: 11 * Self.second)
    let second = sum.add(tally(2, [.cut: 1, .status(503): 4], latency: 900), at: 12 * Self.second)
    sum.end(at: 12 * Self.second + 1000)
    #expect(sum.add(tally(1), at: 13 * Self.second) == nil)
    #expect(first?.completed == 3 && first?.median == 100 && first?.time == 1)
    #expect(second?.failed == 5 && second?.slowest == 900 && second?.cpu == nil)
    let result = sum.result()
    #expect(result.counts.completed == 6 && result.counts.requests == 11)
    #expect(result.counts.failures == ["cut": 1, "status 503": 4])
    #expect(result.latency.totalCount == 6 && result.samples.count == 2 && result.seconds == 2.000001)
    #expect(result.startedAt == 1234 && result.process == nil)
    #expect(result.extras == [RunResult.Extra("requests on the wire", 6)])
  }

  @Test("the process is read before, each second and at the end")
  func process() throws {
    func reading(_ user: Double, _ memory: UInt64) -> ProcessReading {
      ProcessReading(processes: 2, user: user, system: 1, memory: memory)
    }
    let meter = Meter([reading(1, 1000), reading(3, 5000), reading(3.5, 4000)])
    var sum = Summing(try settings(.idle), meter)
    sum.look()
    sum.begin(at: 0, wall: 0)
    #expect(sum.add(tally(10), at: Self.second)?.cpu == 2)
    let quiet = sum.add(tally(0), at: 2 * Self.second)
    sum.end(at: 2 * Self.second)
    #expect(quiet?.cpu == 0.5 && quiet?.memory == 4000)
    let result = sum.result()
    #expect(
      result.process
        == RunResult.ProcessUse(processes: 2, user: 2.5, system: 0, before: 1000, peak: 5000, after: 4000))
    #expect(result.extras.contains(RunResult.Extra("memory a connection", 300, "B")))
    #expect(result.extras.contains(RunResult.Extra("CPU while idle", 50, "%")))
  }

  @Test("a run has so long to go")
  func remaining() throws {
    var sum = Summing(try settings(.hit), nil)
    sum.begin(at: 5, wall: 0)
    #expect(sum.remaining(of: 1, at: 5) == Self.second && sum.remaining(of: 1, at: Self.second + 6) == 0)
  }
}
