import PawlCache
import Testing

@Suite("Backoff") struct ResumeBackoffTests {
  @Test(
    "doubles from nothing to five seconds",
    arguments: [
      (-1, 0), (0, 0), (1, 100), (2, 200), (3, 400), (4, 800), (5, 1600), (6, 3200), (7, 5000), (8, 5000),
      (Int.max, 5000),
    ])
  func steps(_ attempt: Int, _ milliseconds: Int) {
    #expect(backoff(attempt: attempt, jitter: 0) == .milliseconds(milliseconds))
    for jitter in [UInt64](1...2000) + [.max] {
      let wait = backoff(attempt: attempt, jitter: jitter)
      #expect(wait <= .milliseconds(milliseconds) && wait >= .milliseconds(milliseconds * 3 / 4))
    }
  }
}
