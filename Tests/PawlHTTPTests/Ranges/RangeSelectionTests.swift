import PawlHTTP
import Testing

@Suite("Range selection (RFC 9110 §14.1.2, §14.2)") struct RangeSelectionTests {
  private func select(_ text: String, of length: UInt64, maxRanges: Int = 16) throws -> RangeSelection {
    RangeSelection(try #require(RangeField(Bytes(text))), length: length, maxRanges: maxRanges)
  }

  @Test(
    "resolves one range",
    arguments: [
      ("bytes=0-4", 10, 0, 4), ("bytes=0-0", 10, 0, 0), ("bytes=0-", 10, 0, 9), ("bytes=9-", 10, 9, 9),
      ("bytes=5-99", 10, 5, 9), ("bytes=-2", 10, 8, 9), ("bytes=-10", 10, 0, 9), ("bytes=-11", 10, 0, 9),
      ("bytes=0-18446744073709551615", 10, 0, 9), ("bytes=-18446744073709551615", 10, 0, 9),
      ("bytes=0-0", 1, 0, 0), ("bytes=-1", 1, 0, 0), ("bytes=2147483647-4294967296", 1 << 33, 2_147_483_647, 1 << 32),
      ("bytes=0-", UInt64(Int64.max), 0, UInt64(Int64.max) - 1),
    ] as [(String, UInt64, UInt64, UInt64)])
  func one(_ text: String, _ length: UInt64, _ first: UInt64, _ last: UInt64) throws {
    #expect(try select(text, of: length) == .single(range(first, last)))
  }

  @Test(
    "answers 416 when nothing is left",
    arguments: [
      ("bytes=10-", 10), ("bytes=10-20", 10), ("bytes=11-", 10), ("bytes=-0", 10), ("bytes=-0,10-", 10),
      ("bytes=99999999999999999999-", 10), ("bytes=0-", 0), ("bytes=0-0", 0), ("bytes=-0", 0), ("bytes=0-,-0", 0),
      ("bytes=99999999999999999999-", UInt64(Int64.max)),
    ] as [(String, UInt64)])
  func unsatisfiable(_ text: String, _ length: UInt64) throws {
    #expect(try select(text, of: length) == .unsatisfiable)
  }

  @Test("answers 200 to the suffix of nothing", arguments: ["bytes=-1", "bytes=-500", "bytes=0-,-1"])
  func suffixOfNothing(_ text: String) throws { #expect(try select(text, of: 0) == .whole) }

  @Test(
    "keeps several in the order asked for",
    arguments: [
      ("bytes=0-4,500-504", [(0, 4), (500, 504)]), ("bytes=500-504,0-4", [(500, 504), (0, 4)]),
      ("bytes=-5,0-4", [(995, 999), (0, 4)]), ("bytes=0-4,500-504,2000-", [(0, 4), (500, 504)]),
      ("bytes=0-0,81-81", [(0, 0), (81, 81)]),
    ] as [(String, [(UInt64, UInt64)])])
  func several(_ text: String, _ parts: [(UInt64, UInt64)]) throws {
    #expect(try select(text, of: 1000) == .several(parts.map { try range($0.0, $0.1) }))
  }

  @Test(
    "joins ranges that touch, overlap or lie closer than a part's head",
    arguments: [
      ("bytes=0-4,5-9", [(0, 9)]), ("bytes=0-4,3-9", [(0, 9)]), ("bytes=0-9,3-4", [(0, 9)]),
      ("bytes=0-0,80-80", [(0, 80)]),
      ("bytes=5-9,0-4", [(0, 9)]), ("bytes=500-509,0-4,505-519", [(500, 519), (0, 4)]),
      ("bytes=0-4,500-509,2-9", [(0, 9), (500, 509)]), ("bytes=300-300,0-0,150-150,75-75", [(300, 300), (0, 150)]),
      ("bytes=0-0,5000-", [(0, 0)]),
    ] as [(String, [(UInt64, UInt64)])])
  func joins(_ text: String, _ parts: [(UInt64, UInt64)]) throws {
    let ranges = try parts.map { try range($0.0, $0.1) }
    #expect(try select(text, of: 1000) == (ranges.count == 1 ? .single(ranges[0]) : .several(ranges)))
  }

  @Test(
    "answers 200 to abuse",
    arguments: [
      "bytes=0-,0-", "bytes=0-,5-", "bytes=-1000,-1", "bytes=0-999,0-0",
      "bytes=0-9,5-14,10-19,15-24", "bytes=0-9,0-9,0-9,0-9",
    ])
  func abuse(_ text: String) throws { #expect(try select(text, of: 1000) == .whole) }

  @Test("tolerates two overlaps, not three") func overlaps() throws {
    #expect(try select("bytes=0-9,5-14,10-19", of: 1000) == .single(range(0, 19)))
    #expect(try select("bytes=0-9,5-14,10-19,15-24", of: 1000) == .whole)
  }

  @Test("counts elements to the limit and one past it") func count() throws {
    let sixteen = (0..<16).map { "\($0 * 200)-\($0 * 200)" }.joined(separator: ",")
    let parts = try (0..<16).map { try range($0 * 200, $0 * 200) }
    #expect(try select("bytes=\(sixteen)", of: 100_000) == .several(parts))
    #expect(try select("bytes=\(sixteen),90000-", of: 100_000) == .whole)
    #expect(try select("bytes=0-0,500-500", of: 1000, maxRanges: 1) == .whole)
    #expect(try select("bytes=0-0", of: 1000, maxRanges: 1) == .single(range(0, 0)))
  }

  @Test("survives a thousand overlapping ranges (CVE-2011-3192)") func apacheKiller() throws {
    let text = "bytes=0-" + (0..<1300).map { ",5-\($0 + 5)" }.joined()
    #expect(try select(text, of: 1_000_000) == .whole)
    #expect(try select(text, of: 1_000_000, maxRanges: .max) == .whole)
  }

  @Test("selects what a set of bytes would, for every small case") func exhaustive() throws {
    for length in UInt64(1)...6 {
      for first in UInt64(0)...7 {
        for last in first...8 {
          let expected = (first...last).filter { $0 < length }
          switch try select("bytes=\(first)-\(last)", of: length) {
          case .single(let run): #expect(Array(run.first...run.last) == expected)
          case .unsatisfiable: #expect(expected.isEmpty)
          case .whole, .several: Issue.record("\(first)-\(last) of \(length)")
          }
        }
      }
    }
  }
}
