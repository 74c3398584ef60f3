import Testing

@testable import PawlServer

@Suite("Where a request about an upload is") struct UploadExchangeStateTests {
  typealias State = UploadExchangeState<Int, Int>

  private static var phases: [State.Phase] {
    [
      .preparing, .awaitingContent, .receiving(.open), .receiving(.held), .receiving(.writing(isHeld: false, nil)),
      .receiving(.writing(isHeld: true, nil)), .storing, .waiting(1), .passedOn(2), .over(.other), .over(.originAnswer),
    ]
  }

  private static let steps: [(String, @Sendable (inout State) -> State.Step)] = [
    ("awaits content", { $0.awaitsContent() }), ("judges content", { $0.judgesContent() }), ("opens", { $0.opens() }),
    ("writes", { $0.writes() }), ("written", { $0.written() }), ("syncs", { $0.syncs() }), ("synced", { $0.synced() }),
    ("stops taking", { $0.stopsTaking() }), ("waits", { $0.waits(1) }), ("passes on", { $0.passesOn(2) }),
    ("ends", { $0.ends(.originAnswer) }),
  ]

  private static let questions: [(String, @Sendable (inout State) -> State.Action)] = [
    ("content", { $0.contentComes(hasWaiting: false) }),
    ("content behind other", { $0.contentComes(hasWaiting: true) }),
    ("end of content", { $0.contentEnds() }), ("client leaves", { $0.clientLeaves() }),
    ("answer sent", { $0.answerSent() }),
  ]

  /// What each event does in a state, and where the request is then; of those that are not named nothing is done.
  private static func table() -> String {
    phases.map { phase in
      var (lines, impossible) = ("\(shown(phase))\n", [String]())
      for (name, event) in steps {
        var state = State(phase)
        switch event(&state) {
        case .done: lines += "  \(name) -> \(shown(state.phase))\n"
        case .impossible: impossible.append(name)
        case .late: break
        }
        if state.phase != phase, !lines.hasSuffix("-> \(shown(state.phase))\n") { lines += "  \(name) changed it\n" }
      }
      for (name, event) in questions {
        var state = State(phase)
        let action = event(&state)
        if action != .nothing { lines += "  \(name): \(action)\n" }
        if state.phase != phase { lines += "  \(name) changed it\n" }
      }
      return lines + (impossible.isEmpty ? "" : "  impossible: \(impossible.joined(separator: ", "))\n")
    }.joined()
  }

  private static func shown(_ phase: State.Phase) -> String {
    switch phase {
    case .receiving(.writing(let isSyncing, _)): "receiving(writing\(isSyncing ? ", syncing" : ""))"
    case .receiving(.held): "receiving(syncing)"
    case .receiving(.open): "receiving(open)"
    case .over(let told): "over(\(told))"
    case .preparing, .awaitingContent, .storing, .waiting, .passedOn: "\(phase)"
    }
  }

  @Test("every event in every state") func transitions() { #expect(Self.table() == Self.expected) }

  @Test("a client that has left is remembered in every state") func clientGone() {
    for phase in Self.phases {
      var state = State(phase)
      #expect(!state.isClientGone)
      _ = state.clientLeaves()
      #expect(state.isClientGone)
      _ = state.ends(.other)
      #expect(state.isClientGone && state.isOver)
    }
  }

  @Test("what may be written and read, and what is waited with, follows from the state") func derived() {
    for phase in Self.phases {
      let state = State(phase)
      #expect(state.mayWrite == [.receiving(.open), .receiving(.held)].contains(phase), "\(phase)")
      #expect(state.mayRead == (phase == .receiving(.open)), "\(phase)")
      #expect(
        state.isSyncing == [.receiving(.held), .receiving(.writing(isHeld: true, nil))].contains(phase), "\(phase)")
      #expect(state.wait == (phase == .waiting(1) ? 1 : nil) && state.forward == (phase == .passedOn(2) ? 2 : nil))
    }
  }

  private static let expected = """
    preparing
      awaits content -> awaitingContent
      opens -> receiving(open)
      stops taking -> storing
      waits -> waiting(1)
      passes on -> passedOn(2)
      ends -> over(originAnswer)
      content: keep
      content behind other: keep
      end of content: keep
      client leaves: leaveEarly
      impossible: writes, written, syncs
    awaitingContent
      judges content -> preparing
      ends -> over(originAnswer)
      content: judge
      content behind other: judge
      end of content: judge
      client leaves: leaveEarly
      impossible: awaits content, opens, writes, written, syncs, stops taking, waits, passes on
    receiving(open)
      writes -> receiving(writing)
      syncs -> receiving(syncing)
      stops taking -> storing
      ends -> over(originAnswer)
      content: take
      content behind other: keep
      end of content: take
      client leaves: leaveInContent
      impossible: awaits content, judges content, opens, written, waits, passes on
    receiving(syncing)
      writes -> receiving(writing, syncing)
      syncs -> receiving(syncing)
      synced -> receiving(open)
      stops taking -> storing
      ends -> over(originAnswer)
      content: keep
      content behind other: keep
      end of content: take
      client leaves: leaveInContent
      impossible: awaits content, judges content, opens, written, waits, passes on
    receiving(writing)
      written -> receiving(open)
      stops taking -> storing
      ends -> over(originAnswer)
      content: keep
      content behind other: keep
      end of content: take
      client leaves: leaveInContent
      impossible: awaits content, judges content, opens, writes, syncs, waits, passes on
    receiving(writing, syncing)
      written -> receiving(syncing)
      synced -> receiving(writing)
      stops taking -> storing
      ends -> over(originAnswer)
      content: keep
      content behind other: keep
      end of content: take
      client leaves: leaveInContent
      impossible: awaits content, judges content, opens, writes, syncs, waits, passes on
    storing
      waits -> waiting(1)
      ends -> over(originAnswer)
      impossible: awaits content, judges content, opens, writes, syncs, passes on
    waiting(1)
      ends -> over(originAnswer)
      client leaves: cancelWait
      impossible: awaits content, judges content, opens, writes, syncs, stops taking, waits, passes on
    passedOn(2)
      ends -> over(originAnswer)
      content: pass
      content behind other: pass
      end of content: pass
      client leaves: pass
      answer sent: pass
      impossible: awaits content, judges content, opens, writes, written, syncs, stops taking, waits, passes on
    over(other)
    over(originAnswer)
      answer sent: noteDelivered

    """
}
