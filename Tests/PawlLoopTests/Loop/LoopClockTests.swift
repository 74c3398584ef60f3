import Testing

@testable import PawlLoop

@Suite("Clocks") struct LoopClockTests {
  @Test("the system's clock does not run backwards and knows the year")
  func readsSystem() {
    let clock = SystemClock()
    let first = clock.now()
    #expect(clock.now() >= first)
    #expect(clock.wallSeconds() > 1_700_000_000)
    #expect(clock.wallMilliseconds() / 1000 - clock.wallSeconds() <= 1)
  }

  @Test("a manual clock moves when told to, both faces or the wall alone")
  func movesManually() {
    let clock = ManualClock(now: Monotonic(nanoseconds: 10), wallSeconds: 50)
    clock.advance(by: .milliseconds(1500))
    #expect(clock.now().nanoseconds == 1_500_000_010)
    #expect(clock.wallMilliseconds() == 51_500)
    clock.advanceWall(bySeconds: -40)
    #expect(clock.wallSeconds() == 11)
    #expect(clock.now().nanoseconds == 1_500_000_010)
  }
}
