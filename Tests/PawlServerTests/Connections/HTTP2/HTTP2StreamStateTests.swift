import Testing

@testable import PawlServer

@Suite("Where a request over HTTP/2 is") struct HTTP2StreamStateTests {
  private typealias Life = HTTP2StreamState.Life

  private enum Event: CaseIterable { case respond, produced, close }

  private static let lives: [Life] = [
    .open(.awaited), .open(.begun), .open(.produced), .closed(.awaited), .closed(.begun), .closed(.produced),
  ]

  /// After each event, by what was before; `nil`: impossible, and nothing changes.
  private static let next: [Event: [Life?]] = [
    .respond: [.open(.begun), nil, nil, nil, nil, nil],
    .produced: [nil, .open(.produced), nil, nil, .closed(.produced), nil],
    .close: [.closed(.awaited), .closed(.begun), .closed(.produced), nil, nil, nil],
  ]

  @Test("by what happens, whether its request has ended or not", arguments: [false, true])
  func table(_ hasEnded: Bool) {
    for event in Event.allCases {
      for (index, life) in Self.lives.enumerated() {
        var state = Self.state(in: life, hasEnded)
        #expect(state.life == life)
        let isPossible =
          switch event {
          case .respond: state.respond()
          case .produced: state.answerIsProduced()
          case .close: state.close()
          }
        let expected = Self.next[event].flatMap { $0[index] }
        #expect(isPossible == (expected != nil), "\(life) \(event)")
        #expect(state.life == expected ?? life, "\(life) \(event)")
        #expect(state.requestHasEnded == hasEnded)
      }
    }
  }

  @Test("what follows: it is closed, has responded, has answered, may answer, is answering")
  func derived() {
    let facts = Self.lives.map { life in
      let state = Self.state(in: life, false)
      return [state.isClosed, state.hasResponded, state.hasAnswered, state.mayAnswer, state.isAnswering]
    }
    #expect(
      facts == [
        [false, false, false, true, false], [false, true, false, false, true], [false, true, true, false, false],
        [true, false, false, false, false], [true, true, false, false, false], [true, true, true, false, false],
      ])
  }

  private static func state(in life: Life, _ hasEnded: Bool) -> HTTP2StreamState {
    var state = HTTP2StreamState(requestHasEnded: false)
    if hasEnded { state.requestEnds() }
    let (answer, isClosed): (HTTP2StreamState.Answer, Bool) =
      switch life {
      case .open(let answer): (answer, false)
      case .closed(let answer): (answer, true)
      }
    if answer != .awaited { state.respond() }
    if answer == .produced { state.answerIsProduced() }
    if isClosed { state.close() }
    return state
  }
}
