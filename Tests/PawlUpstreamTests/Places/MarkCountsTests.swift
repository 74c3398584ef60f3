import Testing

@testable import PawlUpstream

@Suite("Counts by mark") struct MarkCountsTests {
  @Test("each mark has its own, also where many are looked for in one place, and the table grows")
  func counted() {
    var counts = MarkCounts(capacity: 4)
    // Of four that share a place, and those that stand where they would be next.
    let marks: [UInt64] = [1, 5, 9, 13, 2, 3, 1 << 40 | 1]
    for mark in marks { for _ in 0..<Int(mark % 7) + 1 { counts.add(mark) } }
    for mark in marks { #expect(counts.count(of: mark) == Int(mark % 7) + 1) }
    #expect(counts.count(of: 17) == 0)
    for mark in marks.reversed() {
      for _ in 0..<Int(mark % 7) + 1 { counts.remove(mark) }
      #expect(counts.count(of: mark) == 0)
    }
    for mark in marks { #expect(counts.count(of: mark) == 0) }
  }

  @Test("whatever order they go in, the others stay", arguments: 0..<8)
  func order(_ first: Int) {
    var counts = MarkCounts(capacity: 16)
    let marks = (0..<8).map { UInt64($0 % 3) << 8 | UInt64($0) << 32 | 7 }
    for mark in marks { counts.add(mark) }
    for step in 0..<8 {
      counts.remove(marks[(first + step * 3) % 8])
      let left = (step + 1..<8).map { marks[(first + $0 * 3) % 8] }
      #expect(left.allSatisfy { counts.count(of: $0) == 1 })
    }
  }

  @Test("the flag is that of the last that went, and goes with the entry")
  func flag() {
    var counts = MarkCounts()
    for _ in 0..<3 { counts.add(8) }
    counts.remove(8, flag: true)
    #expect(counts.isFlagged(8))
    counts.remove(8, flag: false)
    #expect(!counts.isFlagged(8))
    counts.remove(8, flag: true)
    counts.add(8)
    #expect(!counts.isFlagged(8))
    counts.remove(9)
    #expect(counts.count(of: 9) == 0)
  }
}
