import PawlCache
import Testing

@Suite("Fetch span") struct FetchSpanTests {
  private static let kib: UInt64 = 1024
  private static let total: UInt64 = 10 << 20

  struct Row: Sendable, CustomTestStringConvertible {
    var wanted: Range<UInt64>
    var held: [Range<UInt64>] = []
    var active: [Range<UInt64>] = []
    var total: UInt64? = FetchSpanTests.total
    var expected: Range<UInt64>?
    var testDescription: String { "\(wanted) of \(held) and \(active)" }
  }

  @Test(
    "asks for what is missing and nothing else",
    arguments: [
      Row(wanted: 0..<1, expected: 0..<64 * kib),
      Row(wanted: 0..<1, total: nil, expected: 0..<64 * kib),
      Row(wanted: 100 * kib..<101 * kib, expected: 64 * kib..<128 * kib),
      Row(wanted: 0..<total, expected: 0..<total),
      Row(wanted: 0..<total, held: [0..<total], expected: nil),
      Row(wanted: 5..<5, expected: nil),
      // A gap inside what is held is asked for exactly.
      Row(wanted: 0..<total, held: [0..<1000, 5000..<total], expected: 1000..<5000),
      Row(wanted: 3000..<4000, held: [0..<1000, 5000..<total], expected: 1000..<5000),
      // Alignment does not move over what is held.
      Row(wanted: 70 * kib..<71 * kib, held: [0..<66 * kib], expected: 66 * kib..<128 * kib),
      Row(wanted: 70 * kib..<71 * kib, held: [0..<3, 100 * kib..<101 * kib], expected: 64 * kib..<100 * kib),
      Row(wanted: 70 * kib..<71 * kib, held: [67 * kib..<68 * kib], expected: 68 * kib..<128 * kib),
      // What is on its way is not asked for twice.
      Row(wanted: 0..<total, active: [0..<total], expected: nil),
      Row(wanted: 10..<20, active: [0..<64 * kib], expected: nil),
      Row(wanted: 10..<100 * kib, active: [0..<64 * kib], expected: 64 * kib..<128 * kib),
      Row(wanted: 0..<total, held: [0..<10], active: [10..<1000, 2000..<total], expected: 1000..<2000),
      // The end of the representation is no multiple of anything.
      Row(wanted: 99_990..<100_000, total: 100_000, expected: 64 * kib..<100_000),
      Row(wanted: 99_990..<200_000, total: 100_000, expected: 64 * kib..<100_000),
      Row(wanted: 100_000..<200_000, total: 100_000, expected: nil),
    ])
  func spans(_ row: Row) {
    let held = HeldBytes(row.held)
    #expect(fetchSpan(wanted: row.wanted, held: held, active: row.active, total: row.total) == row.expected)
  }

  @Test("never asks for a held byte, nor for 1 MiB beyond what is wanted", arguments: 1...50 as ClosedRange<UInt64>)
  func bounds(_ seed: UInt64) throws {
    var random = LinearGenerator(state: seed)
    var held = HeldBytes()
    for _ in 0..<40 {
      let lower = random.next() % Self.total
      held.insert(lower..<min(Self.total, lower + random.next() % 200_000))
    }
    let lower = random.next() % Self.total
    let wanted = lower..<min(Self.total, lower + 1 + random.next() % 1_000_000)
    while let span = fetchSpan(wanted: wanted, held: held, active: [], total: Self.total) {
      try #require(!span.isEmpty)
      #expect(held.gaps(in: span) == [span])
      #expect(span.lowerBound + (1 << 20) >= wanted.lowerBound && span.upperBound <= wanted.upperBound + (1 << 20))
      #expect(span.overlaps(wanted))
      held.insert(span)
    }
    #expect(held.contains(wanted))
  }
}
