import Testing

@testable import PawlCacheStore

@Suite("Segments that are lost and known by their digests") struct LostSegmentsTests {
  private static let records = [
    SegmentRecord(offset: 100, length: 100, digest: 1, sequence: 1),
    SegmentRecord(offset: 200, length: 50, digest: 2, sequence: 1),
    SegmentRecord(offset: 400, length: 100, digest: 3, sequence: 1),
  ]

  private func lost() -> LostSegments {
    var lost = LostSegments()
    for record in Self.records { lost.insert(record) }
    return lost
  }

  /// What came, written and given back.
  private func write(_ range: Range<UInt64>, to lost: inout LostSegments) -> [Range<UInt64>] {
    let runs = lost.split([range]).lost
    for run in runs {
      [UInt8](repeating: 0, count: Int(run.range.upperBound - run.range.lowerBound)).withUnsafeBytes {
        run.segment.append($0)
      }
      lost.giveBack(run)
    }
    return runs.map(\.range)
  }

  @Test("count their bytes, and say where a row of them ends")
  func rows() {
    var lost = lost()
    #expect(lost.bytes == 250 && !lost.isEmpty && lost.records == Self.records)
    #expect(lost.contiguousEnd(from: 150) == 250 && lost.contiguousEnd(from: 250) == 250)
    #expect(lost.overlaps(0..<101) && lost.overlaps(249..<260) && !lost.overlaps(0..<100) && !lost.overlaps(250..<400))
    lost.remove(Self.records[1])
    lost.remove(SegmentRecord(offset: 400, length: 100, digest: 4, sequence: 1))
    #expect(lost.bytes == 200 && lost.contiguousEnd(from: 150) == 200 && lost.segment(at: 499) == Self.records[2])
  }

  @Test(
    "part what comes into what is theirs and what is not",
    arguments: [
      (0..<100, [], [0..<100]),
      (0..<600, [100..<200, 200..<250, 400..<500], [0..<100, 250..<400, 500..<600]),
      (100..<150, [100..<150], []),
      // Not from the beginning of a segment on, and nothing before it: no digest could be made of it.
      (150..<220, [200..<220], []),
      (300..<420, [400..<420], [300..<400]),
    ] as [(Range<UInt64>, [Range<UInt64>], [Range<UInt64>])])
  func parts(_ gap: Range<UInt64>, _ theirs: [Range<UInt64>], _ others: [Range<UInt64>]) {
    var lost = lost()
    let parts = lost.split([gap])
    #expect(parts.lost.map(\.range) == theirs && parts.others == others)
  }

  @Test("take only what goes on where the last piece ended, or begins anew")
  func order() {
    var lost = lost()
    #expect(write(100..<130, to: &lost) == [100..<130])
    #expect(write(140..<160, to: &lost) == [])
    #expect(write(130..<140, to: &lost) == [130..<140])
    #expect(write(100..<110, to: &lost) == [100..<110])
    #expect(write(140..<150, to: &lost) == [])
    #expect(write(110..<120, to: &lost) == [110..<120])
  }

  @Test("have one writer at a time")
  func writers() {
    var lost = lost()
    let first = lost.split([100..<150]).lost
    #expect(first.count == 1 && lost.split([100..<200]).lost.isEmpty)
    lost.drop(first[0])
    #expect(lost.split([150..<200]).lost.isEmpty && lost.split([100..<200]).lost.count == 1)
  }
}
