import Testing

@testable import PawlObserve

@Suite("Buckets of times") struct TimeBucketsTests {
  @Test("a time at a bound belongs to that bound's bucket, one past it to the next")
  func bounds() {
    for index in 0..<TimeBuckets.count - 1 {
      let bound = TimeBuckets.upperBound(of: index)
      #expect(bound == UInt64(64) << UInt64(index))
      #expect(TimeBuckets.index(ofMicroseconds: bound ?? 0) == index)
      #expect(TimeBuckets.index(ofMicroseconds: (bound ?? 0) + 1) == index + 1)
    }
  }

  @Test("the smallest and the largest times have buckets, too")
  func ends() {
    #expect(TimeBuckets.index(ofMicroseconds: 0) == 0 && TimeBuckets.index(ofMicroseconds: 1) == 0)
    #expect(TimeBuckets.index(ofMicroseconds: .max) == TimeBuckets.count - 1)
    #expect(TimeBuckets.upperBound(of: TimeBuckets.count - 1) == nil)
  }

  @Test("counts and their sum are read back")
  func histogram() {
    let cells = CounterCells(count: 3 + CounterCells.histogramCells)
    for time in [0, 64, 65, 1_000_000, UInt64.max >> 8] { cells.observe(3, microseconds: time) }
    let histogram = cells.histogram(at: 3)
    #expect(histogram.count == 5 && histogram.sum == 64 + 65 + 1_000_000 + UInt64.max >> 8)
    #expect(histogram.buckets[0] == 2 && histogram.buckets[1] == 1 && histogram.buckets[14] == 1)
    #expect(histogram.buckets[TimeBuckets.count - 1] == 1)
    #expect((0..<3).allSatisfy { cells.load($0) == 0 })
  }
}
