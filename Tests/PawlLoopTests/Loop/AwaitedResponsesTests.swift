import Testing

@testable import PawlLoop

@Suite("Answers that are awaited") struct AwaitedResponsesTests {
  /// In which of so many sockets the turn is over first; `nil`: in none.
  private func end(_ expected: inout AwaitedResponses, of sockets: Int = 100) -> Int? {
    expected.turnBegins()
    return (1...sockets).first { _ in expected.noteReady() }
  }

  private func begin(_ expected: inout AwaitedResponses, _ goesFirst: Bool) {
    let began = expected.begin()
    #expect(began == goesFirst)
  }

  @Test("a turn is as long as it likes where none is awaited, and short where one is, until it has come")
  func shortens() {
    var expected = AwaitedResponses()
    #expect(end(&expected) == nil)
    begin(&expected, true)
    begin(&expected, true)
    #expect(end(&expected, of: 15) == nil)
    #expect(end(&expected) == 16)
    expected.end()
    #expect(end(&expected) == 16)
    expected.end()
    #expect(end(&expected) == nil)
  }

  @Test("32 go first at a time, the 33rd when another has come")
  func bounds() {
    var expected = AwaitedResponses()
    for _ in 0..<32 { begin(&expected, true) }
    begin(&expected, false)
    expected.end()
    begin(&expected, true)
    begin(&expected, false)
  }

  @Test("one that does not come shortens 255 turns, and any after another request")
  func forgets() {
    var expected = AwaitedResponses()
    for _ in 0..<2 {
      begin(&expected, true)
      for _ in 1..<AwaitedResponses.patience { #expect(end(&expected) == 16) }
      #expect(end(&expected) == nil)
    }
  }
}
