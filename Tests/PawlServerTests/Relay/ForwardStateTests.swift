import Testing

@testable import PawlServer

@Suite("Where a forwarded request is") struct ForwardStateTests {
  private static let requests: [ForwardState.Asking] = [
    .fresh, .held(waits: false), .held(waits: true), .asked, .connected, .over,
  ]
  private static let answers: [ForwardState.Answer] = [.awaited, .coming, .ended, .failed(.contentTooLarge), .dropped]

  private static let requestEvents: [(String, @Sendable (inout ForwardState) -> Bool)] = [
    ("holds", { $0.holds(waits: true) }), ("asks", { $0.asks() }), ("connects", { $0.connects() }),
    ("restarts", { $0.restarts() }),
    (
      "origin ends",
      {
        $0.originEnds(); return true
      }
    ),
  ]

  private static let answerEvents: [(String, @Sendable (inout ForwardState) -> Bool)] = [
    ("begins", { $0.answerBegins() }), ("ends", { $0.answerEnds() }),
    ("fails", { $0.answerFails(.origin(.connectionTerminated)) }),
    (
      "is dropped",
      {
        $0.dropsAnswer(); return true
      }
    ),
  ]

  /// Where each event leads; what is impossible changes nothing.
  private static func table(
    _ states: [ForwardState], _ events: [(String, @Sendable (inout ForwardState) -> Bool)],
    _ shown: (ForwardState) -> String
  ) -> String {
    states.map { before in
      var (lines, impossible) = ("\(shown(before))\n", [String]())
      for (name, event) in events {
        var state = before
        if event(&state) { lines += "  \(name) -> \(shown(state))\n" } else { impossible.append(name) }
        if impossible.last == name, state != before { lines += "  \(name) changed it\n" }
      }
      return lines + (impossible.isEmpty ? "" : "  impossible: \(impossible.joined(separator: ", "))\n")
    }.joined()
  }

  @Test("every event of the request, in every state")
  func requestTransitions() {
    let table = Self.table(Self.requests.map { ForwardState($0) }, Self.requestEvents) { "\($0.asking)" }
    #expect(table == Self.expectedOfRequest)
  }

  @Test("every event of the answer, in every state")
  func answerTransitions() {
    let table = Self.table(Self.answers.map { ForwardState(.connected, $0) }, Self.answerEvents) {
      Self.shown($0.answer)
    }
    #expect(table == Self.expectedOfAnswer)
  }

  private static func shown(_ answer: ForwardState.Answer) -> String {
    switch answer {
    case .failed(.contentTooLarge): "failed, too large"
    case .failed(.origin): "failed, origin"
    case .awaited, .coming, .ended, .dropped: "\(answer)"
    }
  }

  @Test("the request and its answer do not move each other, but what has begun to be given is not asked for again")
  func apart() {
    for request in Self.requests {
      for answer in Self.answers {
        let before = ForwardState(request, answer)
        for (name, event) in Self.requestEvents {
          var state = before
          let wasPossible = event(&state)
          #expect(state.answer == answer, "\(name) of \(before)")
          if name == "restarts" { #expect(wasPossible == (request == .connected && answer == .awaited), "\(before)") }
        }
        for (name, event) in Self.answerEvents {
          var state = before
          _ = event(&state)
          #expect(state.asking == request, "\(name) of \(before)")
        }
        #expect(before.givesAnswer == [.coming, .ended].contains(answer))
        #expect(before.waits == (request == .held(waits: true)))
        #expect(before.isHeld == [.held(waits: true), .held(waits: false)].contains(request))
      }
    }
  }

  @Test("who is at fault for a cut answer")
  func ends() {
    #expect(ForwardState.Failure.contentTooLarge.end == BodyEnd(party: .client, reason: "max-upload"))
    let broken = ForwardState.Failure.origin(.connectionTerminated).end
    #expect(broken == BodyEnd(party: .origin, reason: "connection_terminated"))
  }

  private static let expectedOfRequest = """
    fresh
      holds -> held(waits: true)
      asks -> asked
      origin ends -> over
      impossible: connects, restarts
    held(waits: false)
      asks -> asked
      origin ends -> over
      impossible: holds, connects, restarts
    held(waits: true)
      asks -> asked
      origin ends -> over
      impossible: holds, connects, restarts
    asked
      asks -> asked
      connects -> connected
      origin ends -> over
      impossible: holds, restarts
    connected
      restarts -> fresh
      origin ends -> over
      impossible: holds, asks, connects
    over
      origin ends -> over
      impossible: holds, asks, connects, restarts

    """

  private static let expectedOfAnswer = """
    awaited
      begins -> coming
      fails -> failed, origin
      is dropped -> dropped
      impossible: ends
    coming
      ends -> ended
      fails -> failed, origin
      is dropped -> dropped
      impossible: begins
    ended
      is dropped -> dropped
      impossible: begins, ends, fails
    failed, too large
      is dropped -> dropped
      impossible: begins, ends, fails
    dropped
      fails -> failed, origin
      is dropped -> dropped
      impossible: begins, ends

    """
}
