import PawlCache
import Testing

@Suite("Abandoned fill") struct AbandonedFillTests {
  struct Row: Sendable {
    var held: UInt64
    var total: UInt64?
    var originHasRanges = true
    var expected: AbandonedFillDecision
  }

  @Test(
    "goes on when half is held, little remains, or the origin has no ranges",
    arguments: [
      Row(held: 0, total: 1 << 30, expected: .pause),
      Row(held: 0, total: 1 << 30, originHasRanges: false, expected: .goOn),
      Row(held: (1 << 29) - 1, total: 1 << 30, expected: .pause),
      Row(held: 1 << 29, total: 1 << 30, expected: .goOn),
      Row(held: 0, total: 1000, expected: .goOn),
      Row(held: 0, total: 1001, expected: .pause),
      Row(held: 1, total: 1001, expected: .goOn),
      Row(held: 1 << 20, total: nil, expected: .pause),
      Row(held: 1 << 20, total: nil, originHasRanges: false, expected: .goOn),
      Row(held: 0, total: 0, expected: .goOn),
    ])
  func decides(_ row: Row) {
    let decision = decideAbandoned(
      held: row.held, remaining: row.total.map { $0 - row.held }, total: row.total,
      originHasRanges: row.originHasRanges, abandonedFill: 1000)
    #expect(decision == row.expected)
  }
}
