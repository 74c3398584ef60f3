import Testing

@testable import PawlServer

@Suite("Where a tunnel over HTTP/2 is") struct HTTP2TunnelStateTests {
  private typealias State = HTTP2TunnelState

  @Test("its reading: `nil` is impossible, and nothing changes", arguments: State.Reading.allCases)
  func reading(_ reading: HTTP2TunnelState.Reading) {
    let next: [State.Reading: [State.Reading?]] = [
      .stopped: [.reading, nil, .closed], .reading: [nil, .stopped, .closed], .closed: [nil, nil, nil],
    ]
    for event in 0..<3 {
      var state = State()
      if reading == .reading { _ = state.startReading() }
      if reading == .closed { _ = state.close() }
      let expected = next[reading].flatMap { $0[event] }
      switch event {
      case 0:
        let isPossible = state.startReading()
        #expect(isPossible == (expected != nil))
      case 1: state.stopReading()
      default:
        let isPossible = state.close()
        #expect(isPossible == (expected != nil))
      }
      #expect(state.reading == expected ?? reading, "\(reading) \(event)")
      #expect(state.client == .sending && state.outgoing == .flowing)
    }
  }

  @Test("its client: a break is never an end", arguments: State.Client.allCases)
  func client(_ client: HTTP2TunnelState.Client) {
    for breaks in [false, true] {
      var state = State()
      if client == .ended { state.clientEnds() }
      if client == .broken { state.clientBreaks() }
      breaks ? state.clientBreaks() : state.clientEnds()
      #expect(state.client == (breaks || client == .broken ? .broken : .ended))
    }
  }

  @Test("what goes to it: who waits is told once, and nobody after the end", arguments: State.Outgoing.allCases)
  func outgoing(_ outgoing: HTTP2TunnelState.Outgoing) {
    let next: [State.Outgoing: [State.Outgoing]] = [
      .flowing: [.full, .flowing, .ended], .full: [.full, .flowing, .ended], .ended: [.ended, .ended, .ended],
    ]
    for event in 0..<3 {
      var state = State()
      if outgoing == .full { state.fills() }
      if outgoing == .ended { state.originEnds() }
      switch event {
      case 0: state.fills()
      case 1:
        let isTold = state.empties()
        #expect(isTold == (outgoing == .full))
      default: state.originEnds()
      }
      #expect(state.outgoing == next[outgoing].map { $0[event] }, "\(outgoing) \(event)")
    }
  }
}
