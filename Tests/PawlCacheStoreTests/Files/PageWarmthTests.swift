import Testing

@testable import PawlCacheStore

@Suite("Parts of a file seen in the page cache") struct PageWarmthTests {
  private static let span = PageWarmth.span
  private static let holds = UInt64(PageWarmth.holds)

  private static func bytes(_ from: UInt64, _ to: UInt64) -> Range<UInt64> { from..<to }

  @Test("count for as long as they hold, and only whole parts that were all seen")
  func holds() {
    let second = Self.bytes(Self.span, 2 * Self.span)
    var warmth = PageWarmth()
    #expect(!warmth.isWarm(second, at: 100))
    warmth.note(second, at: 100)
    #expect(warmth.isWarm(Self.bytes(Self.span, Self.span + 1), at: 100))
    let (last, late) = (100 + Self.holds, 101 + Self.holds)
    #expect(warmth.isWarm(second, at: last))
    #expect(!warmth.isWarm(second, at: late))
    #expect(!warmth.isWarm(Self.bytes(Self.span - 1, 2 * Self.span), at: 100))
    #expect(!warmth.isWarm(Self.bytes(Self.span, 2 * Self.span + 1), at: 100))
    warmth.clear()
    #expect(!warmth.isWarm(second, at: 100))
  }

  @Test("are counted over the turn of the clock")
  func turns() {
    var warmth = PageWarmth()
    let first = Self.bytes(0, 1)
    warmth.note(first, at: 65_534)
    #expect(warmth.isWarm(first, at: 65_540))
    #expect(!warmth.isWarm(first, at: 65_600))
    let whole = Self.bytes(0, Self.span)
    #expect(PageWarmth.around(Self.bytes(1, 2)) == whole)
    let both = Self.bytes(0, 2 * Self.span)
    #expect(PageWarmth.around(Self.bytes(0, Self.span + 1)) == both)
  }
}
