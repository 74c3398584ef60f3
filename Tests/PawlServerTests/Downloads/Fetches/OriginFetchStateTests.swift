import Testing

@testable import PawlServer

@Suite("Where a fetch is") struct OriginFetchStateTests {
  typealias Phase = OriginFetchState.Phase

  private static let phases: [Phase] = [
    .asking, .accepting(.coming), .accepting(.ended), .receiving(.coming), .receiving(.ended), .receiving(.broken),
    .comparing(.coming), .comparing(.ended), .comparing(.broken), .backingOff, .ended,
  ]

  /// "Early": bytes of the answer wait to be used.
  private static let events: [(String, @Sendable (inout OriginFetchState) -> OriginFetchState.Action)] = [
    ("asks", { $0.asks() }),
    ("first head", { $0.receivedHead(goesOn: false) }),
    ("head goes on", { $0.receivedHead(goesOn: true) }),
    ("accepted", { $0.accepted() }),
    (
      "compares",
      {
        $0.compares(); return .nothing
      }
    ),
    ("compared", { $0.compared() }),
    ("answer ended early", { $0.answerEnded(hasMore: true) }),
    ("answer ended", { $0.answerEnded(hasMore: false) }),
    ("broke before answer", { $0.broke(hasMore: false, beforeAnyAnswer: true) }),
    ("broke early", { $0.broke(hasMore: true, beforeAnyAnswer: false) }),
    ("broke", { $0.broke(hasMore: false, beforeAnyAnswer: false) }),
    ("used all", { $0.usedAll() }),
    (
      "backs off",
      {
        $0.backsOff(); return .nothing
      }
    ),
    (
      "ends",
      {
        $0.ends(); return .nothing
      }
    ),
  ]

  /// What each event does in a state, and where the fetch is then; of those that are not named nothing is done.
  static func table() -> String {
    phases.map { phase in
      var (lines, impossible) = ("", [String]())
      for (name, event) in events {
        var state = OriginFetchState(phase)
        let action = event(&state)
        if action == .impossible { impossible.append(name) }
        let isSame = state.phase == phase
        if action == .impossible || action == .nothing && isSame { continue }
        lines += "  \(name): \(action)" + (isSame ? "\n" : " -> \(shown(state.phase))\n")
      }
      if !impossible.isEmpty { lines += "  impossible: \(impossible.joined(separator: ", "))\n" }
      return "\(shown(phase))\n" + lines
    }.joined()
  }

  private static func shown(_ phase: Phase) -> String {
    switch phase {
    case .accepting(let answer): "accepting, \(answer)"
    case .receiving(let answer): "receiving, \(answer)"
    case .comparing(let answer): "comparing, \(answer)"
    case .asking, .backingOff, .ended: "\(phase)"
    }
  }

  @Test("every event in every state")
  func transitions() { #expect(Self.table() == Self.expected) }

  @Test("the sink's pace is its own: it lasts over attempts, and holds up what is used")
  func pace() {
    for phase in Self.phases {
      var state = OriginFetchState(phase)
      #expect(state.resumes() == .nothing, "\(phase)")
      state.pauses()
      #expect(state.isPaused && state.usedAll() == .nothing, "\(phase)")
      let mayGoOn = [Phase.receiving(.coming), .receiving(.ended), .receiving(.broken)].contains(phase)
      #expect(state.resumes() == (mayGoOn ? .goOn : .nothing), "\(phase)")
      #expect(!state.isPaused && state.phase == phase, "\(phase)")
    }
    var state = OriginFetchState(.receiving(.coming), isPaused: true)
    state.breaks()
    state.backsOff()
    #expect(state.isPaused && state.hasBroken && state.asks() == .goOn && state.isPaused && state.hasBroken)
  }

  private static let expected = """
    asking
      asks: goOn
      first head: goOn -> accepting, coming
      head goes on: goOn -> receiving, coming
      broke before answer: tellNoAnswer
      broke early: breakOff
      broke: breakOff
      backs off: nothing -> backingOff
      ends: nothing -> ended
      impossible: answer ended early, answer ended
    accepting, coming
      accepted: goOn -> receiving, coming
      answer ended early: nothing -> accepting, ended
      answer ended: nothing -> accepting, ended
      broke before answer: tellNoAnswer
      broke early: breakOff
      broke: breakOff
      backs off: nothing -> backingOff
      ends: nothing -> ended
      impossible: asks, first head, head goes on
    accepting, ended
      accepted: conclude -> receiving, ended
      backs off: nothing -> backingOff
      ends: nothing -> ended
      impossible: asks, first head, head goes on, answer ended early, answer ended, broke before answer, broke early, broke
    receiving, coming
      compares: nothing -> comparing, coming
      answer ended early: nothing -> receiving, ended
      answer ended: conclude -> receiving, ended
      broke before answer: breakOff
      broke early: nothing -> receiving, broken
      broke: breakOff
      used all: goOn
      backs off: nothing -> backingOff
      ends: nothing -> ended
      impossible: asks, first head, head goes on
    receiving, ended
      compares: nothing -> comparing, ended
      used all: conclude
      backs off: nothing -> backingOff
      ends: nothing -> ended
      impossible: asks, first head, head goes on, answer ended early, answer ended, broke before answer, broke early, broke
    receiving, broken
      compares: nothing -> comparing, broken
      used all: breakOff
      backs off: nothing -> backingOff
      ends: nothing -> ended
      impossible: asks, first head, head goes on, answer ended early, answer ended, broke before answer, broke early, broke
    comparing, coming
      compared: goOn -> receiving, coming
      answer ended early: nothing -> comparing, ended
      answer ended: nothing -> comparing, ended
      broke before answer: nothing -> comparing, broken
      broke early: nothing -> comparing, broken
      broke: nothing -> comparing, broken
      backs off: nothing -> backingOff
      ends: nothing -> ended
      impossible: asks, first head, head goes on
    comparing, ended
      compared: goOn -> receiving, ended
      backs off: nothing -> backingOff
      ends: nothing -> ended
      impossible: asks, first head, head goes on, answer ended early, answer ended, broke before answer, broke early, broke
    comparing, broken
      compared: goOn -> receiving, broken
      backs off: nothing -> backingOff
      ends: nothing -> ended
      impossible: asks, first head, head goes on, answer ended early, answer ended, broke before answer, broke early, broke
    backingOff
      asks: goOn -> asking
      ends: nothing -> ended
      impossible: first head, head goes on, answer ended early, answer ended, broke before answer, broke early, broke
    ended

    """
}
