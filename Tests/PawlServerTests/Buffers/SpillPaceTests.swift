import PawlLoop
import Testing

@testable import PawlServer

@Suite("The pace at which answers are moved into files") struct SpillPaceTests {
  @Test("a MiB in ten milliseconds, and then the next")
  func limit() {
    var pace = SpillPace()
    func take(_ count: Int, _ milliseconds: UInt64) -> Bool {
      pace.take(count, at: Monotonic(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000))
    }
    #expect(take(SpillPace.limit - 1, 0))
    #expect(!take(1, 1) && !take(1, 9))
    #expect(take(SpillPace.limit - 1, 10))
    #expect(!take(SpillPace.limit, 25) && take(1, 35))
  }
}
