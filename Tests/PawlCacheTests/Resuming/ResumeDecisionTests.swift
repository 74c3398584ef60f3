import PawlCache
import PawlHTTP
import Testing

@Suite("Resume decision") struct ResumeDecisionTests {
  private static let tagged = ["ETag: \"a\""]
  private static let mib: UInt64 = 1 << 20
  private static let ifRange = Array("\"a\"".utf8)

  private static func identity(_ lines: [String], total: UInt64?) -> RepresentationIdentity {
    RepresentationIdentity(
      head: Messages.response(lines), framing: total.map { .length($0) } ?? .chunked, receivedAt: Messages.now)
  }

  struct Row: Sendable {
    var lines = ResumeDecisionTests.tagged
    var total: UInt64? = 10 * ResumeDecisionTests.mib
    var held: UInt64
    var spanStart: UInt64 = 0
    var prefix: UInt64 = 0
    var refused = false
    var expected: ResumeDecision
  }

  @Test(
    "asks for the rest with a strong validator, and replays without one",
    arguments: [
      Row(held: 5 * mib, expected: .askForRest(from: 5 * mib - 4096, overlap: 4096, ifRange: ifRange)),
      Row(held: 100, expected: .askForRest(from: 0, overlap: 100, ifRange: ifRange)),
      Row(total: mib, held: 5000, expected: .askForRest(from: 904, overlap: 4096, ifRange: ifRange)),
      Row(total: 6000, held: 5000, expected: .askForRest(from: 904, overlap: 4096, ifRange: ifRange)),
      Row(total: nil, held: 5 * mib, expected: .askForRest(from: 5 * mib - 4096, overlap: 4096, ifRange: ifRange)),
      Row(held: 0, expected: .replay(comparing: 0)),
      Row(held: 5000, refused: true, expected: .replay(comparing: 5000)),
      Row(lines: ["ETag: W/\"a\""], held: 5000, expected: .replay(comparing: 5000)),
      Row(lines: [], held: 5000, expected: .replay(comparing: 5000)),
      // Spans that begin in the middle.
      Row(held: 2 * mib, spanStart: 2 * mib, expected: .askForRest(from: 2 * mib, overlap: 0, ifRange: ifRange)),
      Row(
        held: 2 * mib + 10, spanStart: 2 * mib, expected: .askForRest(from: 2 * mib, overlap: 10, ifRange: ifRange)),
      Row(held: 2 * mib, spanStart: mib, refused: true, expected: .giveUp(.spanCannotBeReplayed)),
      Row(held: 2 * mib, spanStart: mib, prefix: mib - 1, refused: true, expected: .giveUp(.spanCannotBeReplayed)),
      Row(held: 2 * mib, spanStart: mib, prefix: mib, refused: true, expected: .replay(comparing: 2 * mib)),
    ])
  func decides(_ row: Row) {
    var progress = ResumeProgress(held: row.held)
    progress.originRefusesRanges = row.refused
    let decision = decideResume(
      held: row.held, spanStart: row.spanStart, prefix: row.prefix,
      identity: Self.identity(row.lines, total: row.total), progress: progress)
    #expect(decision == row.expected)
  }

  @Test("gives up after so many attempts in a row without progress")
  func attempts() {
    let identity = Self.identity(Self.tagged, total: 10_000)
    var progress = ResumeProgress(held: 500, attemptLimit: 3)
    for _ in 0..<2 {
      progress.attemptEnded(held: 500, replayed: 0, total: 10_000)
      #expect(
        decideResume(held: 500, spanStart: 0, identity: identity, progress: progress)
          == .askForRest(from: 0, overlap: 500, ifRange: Self.ifRange))
    }
    progress.attemptEnded(held: 500, replayed: 0, total: 10_000)
    #expect(
      decideResume(held: 500, spanStart: 0, identity: identity, progress: progress) == .giveUp(.attemptsExhausted))
  }

  @Test("gives up a replay that has cost too much")
  func replays() {
    let identity = Self.identity([], total: 10_000)
    var progress = ResumeProgress(held: 500, attemptLimit: 1000, replayFactor: 20)
    for _ in 0..<20 { progress.attemptEnded(held: 500, replayed: 500, total: 10_000) }
    #expect(decideResume(held: 500, spanStart: 0, identity: identity, progress: progress) == .replay(comparing: 500))
    progress.attemptEnded(held: 500, replayed: 1, total: 10_000)
    #expect(
      decideResume(held: 500, spanStart: 0, identity: identity, progress: progress) == .giveUp(.replayLimitReached))
  }

  @Test("after an answer that took too long the whole is asked for once more; by range as often as before")
  func repetition() {
    var progress = ResumeProgress(held: 0)
    progress.attemptEnded(held: 500, replayed: 0, total: 10_000, ending: .tookTooLong)
    for (lines, first) in [
      ([], ResumeDecision.replay(comparing: 500)),
      (Self.tagged, .askForRest(from: 0, overlap: 500, ifRange: Self.ifRange)),
    ] {
      let identity = Self.identity(lines, total: 10_000)
      #expect(decideResume(held: 500, spanStart: 0, identity: identity, progress: progress) == first)
      var again = progress
      again.attemptEnded(held: 500, replayed: 500, total: 10_000, ending: .tookTooLong)
      let second = lines.isEmpty ? .giveUp(.tookTooLongAgain) : first
      #expect(decideResume(held: 500, spanStart: 0, identity: identity, progress: again) == second)
    }
  }

  @Test("a span of something known is asked for under its strong validator, or from zero where digests prove it")
  func starts() {
    let tagged = Self.identity(Self.tagged, total: 10)
    let weak = Self.identity(["ETag: W/\"a\""], total: 10)
    #expect(
      decideStart(at: 7, identity: tagged, isReplayed: false)
        == .askForRest(from: 7, overlap: 0, ifRange: Self.ifRange))
    #expect(decideStart(at: 7, identity: weak, isReplayed: false) == nil)
    #expect(decideStart(at: 0, identity: tagged, isReplayed: true) == .replay(comparing: 0))
    #expect(decideStart(at: 0, identity: weak, isReplayed: true) == .replay(comparing: 0))
  }
}
