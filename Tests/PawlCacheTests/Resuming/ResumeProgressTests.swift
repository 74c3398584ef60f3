import PawlCache
import Testing

@Suite("Resume progress") struct ResumeProgressTests {
  struct Row: Sendable {
    var total: UInt64?
    var gained: UInt64
    var replayed: UInt64
    var counts: Bool
  }

  @Test(
    "counts any new byte of a range, and 1 % or 16 MiB of a replay",
    arguments: [
      Row(total: 1 << 30, gained: 0, replayed: 0, counts: false),
      Row(total: 1 << 30, gained: 1, replayed: 0, counts: true),
      Row(total: 1_000_000, gained: 9999, replayed: 1, counts: false),
      Row(total: 1_000_000, gained: 10_000, replayed: 1, counts: true),
      Row(total: 1 << 40, gained: (16 << 20) - 1, replayed: 1, counts: false),
      Row(total: 1 << 40, gained: 16 << 20, replayed: 1, counts: true),
      Row(total: 50, gained: 1, replayed: 1, counts: true),
      Row(total: nil, gained: 9, replayed: 1, counts: false),
      Row(total: nil, gained: 10, replayed: 1, counts: true),
    ])
  func progress(_ row: Row) {
    var progress = ResumeProgress(held: 1000)
    progress.attemptEnded(held: 1000, replayed: 10, total: row.total)
    progress.attemptEnded(held: 1000 + row.gained, replayed: row.replayed, total: row.total)
    #expect(progress.attemptsWithoutProgress == (row.counts ? 0 : 2))
    #expect(progress.replayedBytes == (row.counts ? 0 : 10 + row.replayed))
  }

  @Test("adds small gains up until they count")
  func accumulates() {
    var progress = ResumeProgress(held: 0)
    for step in 1...9 as ClosedRange<UInt64> {
      progress.attemptEnded(held: step * 1000, replayed: 1, total: 1_000_000)
      #expect(progress.attemptsWithoutProgress == Int(step))
    }
    progress.attemptEnded(held: 10_000, replayed: 1, total: 1_000_000)
    #expect(progress.attemptsWithoutProgress == 0)
  }

  @Test("never overflows, and survives bytes that were taken away")
  func extremes() {
    var progress = ResumeProgress(held: 100)
    progress.attemptEnded(held: 50, replayed: .max, total: 1000)
    progress.attemptEnded(held: 50, replayed: .max, total: 1000)
    #expect(progress.replayedBytes == .max && progress.attemptsWithoutProgress == 2)
  }

  @Test(
    "after an answer that took too long the next attempt has to bring 1 % or 16 MiB, where the origin has worked for it",
    arguments: [
      (0, AttemptEnding.tookTooLong, true), (0, .brokeOff, true), (9999, .tookTooLong, true), (9999, .brokeOff, true),
      (10_000, .tookTooLong, false), (0, .notBegun, false), (9999, .notBegun, false),
    ] as [(UInt64, AttemptEnding, Bool)])
  func repetition(_ gained: UInt64, _ ending: AttemptEnding, _ isInVain: Bool) {
    var progress = ResumeProgress(held: 0)
    progress.attemptEnded(held: 500_000, replayed: 0, total: 1_000_000, ending: .tookTooLong)
    #expect(!progress.isRepeatedInVain)
    progress.attemptEnded(held: 500_000 + gained, replayed: 500_000, total: 1_000_000, ending: ending)
    #expect(progress.isRepeatedInVain == isInVain)
  }

  @Test("of several nodes each may be asked once more after an answer that took too long", arguments: [1, 2, 3])
  func nodes(_ count: Int) {
    var progress = ResumeProgress(held: 0, nodes: count)
    progress.attemptEnded(held: 500, replayed: 0, total: 1000, ending: .tookTooLong)
    for turn in 1...count {
      #expect(!progress.isRepeatedInVain)
      progress.attemptEnded(held: 500, replayed: 400, total: 1000, ending: turn == 1 ? .brokeOff : .tookTooLong)
    }
    #expect(progress.isRepeatedInVain)
  }

  @Test("breaks without a timeout before them are no repetition in vain, and one that comes late counts from there")
  func noRepetition() {
    var progress = ResumeProgress(held: 0)
    for _ in 0..<5 { progress.attemptEnded(held: 1000, replayed: 1000, total: 1_000_000) }
    #expect(!progress.isRepeatedInVain)
    for held in [11_000, 21_000, 31_000] as [UInt64] {
      progress.attemptEnded(held: held, replayed: 1000, total: 1_000_000, ending: .tookTooLong)
      #expect(!progress.isRepeatedInVain)
    }
    progress.attemptEnded(held: 31_001, replayed: 31_000, total: 1_000_000, ending: .tookTooLong)
    #expect(progress.isRepeatedInVain)
  }
}
