import PawlCache
import Testing

@Suite("Eviction score") struct EvictionScoreTests {
  private static func score(
    _ kind: EvictionClass = .complete, idle: Int64 = 100, uses: UInt64 = 1, size: UInt64 = 1 << 20
  ) -> EvictionScore {
    EvictionScore(kind, idle: idle, uses: uses, size: size)
  }

  @Test(
    "the left one goes first",
    arguments: [
      (score(.superseded, idle: 0, uses: 1000), score(.partial, idle: 100_000, uses: 0)),
      (score(.partial, idle: 0, uses: 1000), score(.complete, idle: 100_000, uses: 0)),
      (score(idle: 1000), score(idle: 10)),
      (score(uses: 0), score(uses: 5)),
      (score(size: 1 << 30), score(size: 1 << 10)),
      (score(idle: 86_400, uses: 3), score(idle: 3600, uses: 3)),
    ])
  func order(_ first: EvictionScore, _ second: EvictionScore) {
    #expect(first < second)
    #expect(!(second < first))
  }

  @Test("is a finite number at every extreme")
  func extremes() {
    for idle in [Int64.min, -1, 0, .max] {
      for uses in [UInt64.zero, .max] {
        for size in [UInt64.zero, .max] {
          let worth = EvictionScore(.complete, idle: idle, uses: uses, size: size).worth
          #expect(worth.isFinite && worth > 0)
        }
      }
    }
  }
}
