import Testing

@testable import PawlBench

@Suite("Plots of latencies") struct LatencyPlotsTests {
  @Test("by percentile rise with each result's values, and end at its slowest")
  func byPercentile() throws {
    let results = [MadeUpResults.large("a", seed: 1), MadeUpResults.large("b", seed: 2, seconds: 3)]
    let plot = try #require(LatencyPlots(results: results).byPercentile)
    #expect(plot.lines.map(\.name) == ["a", "b"] && plot.lines.map(\.colour) == [0, 1])
    for (line, result) in zip(plot.lines, results) {
      let points = line.runs.joined()
      #expect(zip(points, points.dropFirst()).allSatisfy { $0.x <= $1.x && $0.y <= $1.y })
      #expect(
        points.first?.x == 1
          && points.last == .init(x: Double(result.latency.totalCount), y: Double(result.latency.maxRecorded)))
    }
    #expect(plot.x.ticks.map(\.text) == ["0 %", "50 %", "75 %", "90 %", "99 %", "99.9 %"])
    #expect(plot.lines[0].marks.count == 4)
    #expect(plot.hints.first?.lines.first == "0 %" && plot.hints.last?.to == 3000)
  }

  @Test("of few values are steps, and what is marked lies on them")
  func steps() throws {
    var result = MadeUpResults.small
    result.latency.reset()
    for value in [10, 20, 30, 40, 50, 60, 70, 80, 90, 100] as [UInt64] { result.latency.record(value) }
    let line = try #require(LatencyPlots(results: [result]).byPercentile?.lines.first)
    let points = try #require(line.runs.first)
    #expect(line.marks == [.init(x: 2, y: 50), .init(x: 10, y: 90)])
    #expect(points.prefix(3) == [.init(x: 1, y: 10), .init(x: 10.0 / 9, y: 10), .init(x: 10.0 / 9, y: 20)])
    for mark in line.marks { #expect(points.contains { abs($0.x - mark.x) < 1e-9 && $0.y == mark.y }) }
  }

  @Test("of a narrow run begin at 0; of one with a long tail they are in decades")
  func scale() throws {
    var narrow = MadeUpResults.small
    narrow.latency.reset()
    for value in 500...1500 as ClosedRange<UInt64> { narrow.latency.record(value) }
    #expect(try #require(LatencyPlots(results: [narrow]).byPercentile).y.kind == .linear)
    #expect(try #require(LatencyPlots(results: [MadeUpResults.small]).byPercentile).y.kind == .logarithmic)
  }

  @Test("show what share of all lies in each step; together they are all, but for the rarest")
  func spread() throws {
    let plot = try #require(LatencyPlots(results: [MadeUpResults.large("a", seed: 1)]).spread)
    let points = try #require(plot.lines.first?.runs.first)
    // Two points for each step.
    let sum = points.reduce(0) { $0 + $1.y } / 2
    #expect(sum > 99.9 && sum < 100.1)
    #expect(zip(points, points.dropFirst()).allSatisfy { $0.x <= $1.x })
  }

  @Test("of one single value can be drawn, of none there are none")
  func few() throws {
    var result = MadeUpResults.small
    result.latency.reset()
    #expect(LatencyPlots(results: [result]).byPercentile == nil && LatencyPlots(results: [result]).spread == nil)
    for value in [0, 0, 7, 3_600_000_000] as [UInt64] {
      result.latency.record(value)
      let plots = LatencyPlots(results: [result])
      #expect(
        !(plots.byPercentile?.markup() ?? "nan").contains("nan") && !(plots.spread?.markup() ?? "nan").contains("nan"))
    }
  }
}
