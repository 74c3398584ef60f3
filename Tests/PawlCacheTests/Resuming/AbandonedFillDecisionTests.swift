import PawlCache
import Testing

@Suite("Abandoned fill") struct AbandonedFillDecisionTests {
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

  @Test(
    "of unknown length at most abandoned-fill more comes",
    arguments: [(0, true), (999, true), (1000, false), (1001, false)])
  func unknown(_ gained: UInt64, _ goesOn: Bool) {
    let allowance = AbandonedUnknown(at: 5000, abandonedFill: 1000)
    #expect(allowance.isEnough(5000 + gained) != goesOn && allowance.end == 6000)
    #expect(AbandonedUnknown(at: 5000, abandonedFill: 0).isEnough(5000))
    #expect(!AbandonedUnknown(at: 5000, abandonedFill: .max).isEnough(.max - 1))
  }

  @Test("one that is slow ends: a twelfth of it has to come in each interval, of a large one as of 64 MiB")
  func pace() {
    var allowance = AbandonedUnknown(at: 5000, abandonedFill: 12_000)
    #expect([6000, 7500, 8499].map { allowance.keepsPace($0) } == [true, true, false])
    var large = AbandonedUnknown(at: 0, abandonedFill: 1 << 40)
    let least = (64 << 20) / 12 as UInt64
    #expect([least, 2 * least - 1].map { large.keepsPace($0) } == [true, false])
    var tiny = AbandonedUnknown(at: 0, abandonedFill: 1)
    #expect([0, 1].map { tiny.keepsPace($0) } == [false, true])
  }
}
