import Histogram
import Testing

@testable import PawlBench

@Suite("Latencies, counted") struct LatencyCountsTests {
  @Test("each is kept to a thousandth, from a microsecond to an hour")
  func precision() {
    for value: UInt64 in [0, 1, 999, 2047, 2048, 2049, 4095, 4096, 123_456, 98_765_432, 3_600_000_000] {
      var counts = LatencyCounts()
      counts.record(value)
      let told = counts.quantile(0.5)
      #expect(told.distance(to: value).magnitude * 1000 <= value, "\(value) is told as \(told)")
      #expect(counts.slowest == told)
    }
  }

  @Test("longer than an hour is an hour")
  func longest() {
    var counts = LatencyCounts()
    counts.record(.max)
    #expect(counts.total == 1 && counts.slowest <= LatencyCounts.highest + 2_000_000)
  }

  @Test("quantiles count from below; none is 0")
  func quantiles() {
    var counts = LatencyCounts()
    #expect(counts.quantile(0.99) == 0 && counts.slowest == 0)
    for value in 1...100 as ClosedRange<UInt64> { counts.record(value) }
    #expect([0, 0.5, 0.99, 1].map(counts.quantile) == [1, 50, 99, 100])
  }

  @Test("sums and histograms hold what their parts did")
  func sums() {
    var (a, b) = (LatencyCounts(), LatencyCounts())
    for value in 1...50 as ClosedRange<UInt64> { a.record(value) }
    for value in 51...100 as ClosedRange<UInt64> { b.record(value) }
    a.add(b)
    var histogram = RunResult.emptyHistogram()
    a.add(to: &histogram)
    #expect(histogram.totalCount == 100 && histogram.valueAtPercentile(50) == 50 && histogram.max == 100)
  }
}
