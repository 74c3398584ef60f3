import Testing

@testable import PawlBench

@Suite("Plots over time") struct TimePlotsTests {
  private func titles(_ results: [RunResult]) -> [String] { TimePlots(results).all.map(\.title) }

  @Test("one result: all latencies in one; several: a plot for each latency")
  func plots() {
    let results = [MadeUpResults.large("a", seed: 1), MadeUpResults.large("b", seed: 2)]
    let others = ["Throughput over time", "CPU over time", "Memory over time"]
    #expect(titles([results[0]]) == ["Latency over time"] + others)
    #expect(
      titles(results) == ["Median latency over time", "99th percentile over time", "Slowest over time"] + others)
    #expect(TimePlots([results[0]]).all[0].lines.map(\.name) == ["median", "99 %", "slowest"])
    #expect(TimePlots(results).all[0].lines.map(\.name) == ["a", "b"])
  }

  @Test("without a process there is neither CPU nor memory, without two seconds nothing")
  func missing() {
    var result = MadeUpResults.large("a", seed: 1)
    for index in result.samples.indices { (result.samples[index].cpu, result.samples[index].memory) = (nil, nil) }
    #expect(titles([result]) == ["Latency over time", "Throughput over time"])
    result.samples = [result.samples[0]]
    #expect(titles([result]) == [] && titles([]) == [])
  }

  @Test("a second in which the server was not seen leaves a gap")
  func gap() throws {
    var result = MadeUpResults.large("a", seed: 1, seconds: 6)
    result.samples[2].cpu = nil
    let cpu = try #require(TimePlots([result]).all.first { $0.title == "CPU over time" })
    #expect(cpu.lines[0].runs.map { $0.map(\.x) } == [[1, 2], [4, 5, 6]])
  }

  @Test("a second in which nothing ended has no latency, and leaves no gap")
  func nothingEnded() {
    var result = MadeUpResults.large("a", seed: 1, seconds: 6)
    result.samples[2].completed = 0
    for results in [[result], [result, result]] {
      #expect(TimePlots(results).all[0].lines[0].runs.map { $0.map(\.x) } == [[1, 2, 4, 5, 6]])
    }
  }

  @Test("throughput counts requests, and bytes where answers are large")
  func throughput() throws {
    var result = MadeUpResults.large("a", seed: 1)
    #expect(
      try #require(TimePlots([result]).all.first { $0.title == "Throughput over time" }).yLabel == "requests a second")
    result.counts.received = result.counts.completed << 20
    let plot = try #require(TimePlots([result]).all.first { $0.title == "Throughput over time" })
    #expect(plot.yLabel == "content" && plot.y.ticks.last?.text == "128 KiB/s")
  }

  @Test("long runs are drawn in equal steps: means of rates, the highest of what is highest")
  func longRuns() throws {
    var result = MadeUpResults.large("a", seed: 1, seconds: 600)
    result.samples[3].slowest = 9_999_999
    result.samples[3].cpu = nil
    let plots = TimePlots([result])
    #expect(plots.width == 3 && plots.steps[0].count == 200 && plots.steps[0].allSatisfy { $0.completed == 100 })
    #expect(plots.steps[0].map(\.time) == (1...200).map { Double($0 * 3) })
    #expect(plots.steps[0][1].slowest == 9_999_999 && plots.steps[0][1].cpu == nil && plots.steps[0][2].cpu != nil)
    #expect(plots.all[0].x.ticks.map(\.text) == ["0 min", "2 min", "4 min", "6 min", "8 min", "10 min"])
    #expect(plots.all[0].hints.count == 200 && plots.all[0].hints[1].lines.first == "6 s")
  }
}
