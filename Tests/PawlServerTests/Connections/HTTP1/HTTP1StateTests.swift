import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Where a connection of HTTP/1.1 is") struct HTTP1StateTests {
  private typealias Phase = HTTP1State.Phase
  private typealias Answer = HTTP1State.Answer

  private enum Event: CaseIterable {
    case noPreface, headBegins, headEnds, begin, respond, answerIsSent, awaitRequest, flush, linger, close
  }

  /// The phase after each event, by the phase before in the order of ``HTTP1State/Phase``; `nil`: impossible, or without
  /// meaning, and nothing changes. In `exchanging` the answer has begun.
  private static let next: [Event: [Phase?]] = [
    .noPreface: [.idle, nil, nil, nil, nil, nil, nil],
    .headBegins: [.inHead, .inHead, nil, nil, nil, nil, nil],
    .headEnds: [nil, nil, .idle, nil, nil, nil, nil],
    .begin: [.exchanging, .exchanging, .exchanging, nil, nil, nil, nil],
    .respond: [nil, nil, nil, nil, nil, nil, nil],
    .answerIsSent: [nil, nil, nil, .exchanging, nil, nil, nil],
    .awaitRequest: [nil, nil, nil, .idle, nil, nil, nil],
    .flush: [.flushing, .flushing, .flushing, .flushing, nil, nil, nil],
    .linger: [.lingering, .lingering, .lingering, .lingering, .lingering, nil, nil],
    .close: [.closed, .closed, .closed, .closed, .closed, .closed, nil],
  ]

  @Test("its life, by what happens", arguments: Phase.allCases)
  func life(_ phase: HTTP1State.Phase) {
    for event in Event.allCases {
      var state = Self.state(in: phase)
      #expect(state.phase == phase)
      let expected = Self.next[event].flatMap { $0[Int(phase.rawValue)] }
      let isPossible: Bool? =
        switch event {
        case .noPreface: Self.nothing { state.seesPreface(false) }
        case .headBegins: state.headBegins()
        case .headEnds: Self.nothing { state.headEnds() }
        case .begin: state.begin(HTTP1State.Turn())
        case .respond: state.respond()
        case .answerIsSent: state.answerIsSent()
        case .awaitRequest: state.awaitRequest()
        case .flush: state.flush()
        case .linger: state.linger()
        case .close: state.close()
        }
      #expect(state.phase == expected ?? phase, "\(phase) \(event)")
      if let isPossible { #expect(isPossible == (expected != nil), "\(phase) \(event)") }
    }
  }

  @Test("a preface that may still come leaves it open what is spoken")
  func preface() {
    var state = HTTP1State()
    state.seesPreface(true)
    #expect(state.phase == .fresh)
    state.seesPreface(false)
    #expect(state.phase == .idle)
  }

  @Test("what follows from the phase: it waits, is open, sends")
  func derived() {
    let facts = Phase.allCases.map { phase in
      let state = Self.state(in: phase)
      return [state.isWaiting, state.isOpen, state.isSending]
    }
    #expect(
      facts == [
        [true, true, false], [true, true, false], [true, true, false], [false, true, true], [false, false, true],
        [false, false, false], [false, false, false],
      ])
  }

  private enum AnswerEvent: CaseIterable { case deaf, respond, counted, chunked, sent, next }

  private static let answers: [Answer] = [
    .awaited, .unheard, .begun(.counted), .begun(.chunked), .begun(.untilClose), .sent,
  ]

  /// The same of the answer. Framing is said of one that has just begun.
  private static let nextAnswer: [AnswerEvent: [Answer?]] = [
    .deaf: [.unheard, nil, nil, nil, nil, nil],
    .respond: [.begun(.counted), .begun(.counted), nil, nil, nil, nil],
    .sent: [nil, nil, .sent, .sent, .sent, .sent],
    .next: [Answer](repeating: .awaited, count: 6),
    .counted: [nil, nil, nil, nil, nil, nil],
    .chunked: [nil, nil, .begun(.chunked), nil, nil, nil],
  ]

  @Test("the answer, by what happens")
  func answer() {
    for event in AnswerEvent.allCases {
      for (index, answer) in Self.answers.enumerated() {
        var state = Self.state(answering: answer)
        #expect(state.turn.answer == answer)
        switch event {
        case .deaf: state.writeFailed()
        case .respond: state.respond()
        case .sent: state.answerIsSent()
        case .next: state.awaitRequest()
        case .counted: _ = state.frame(.known(1))
        case .chunked:
          guard answer == .begun(.counted) else { continue }
          _ = state.frame(.unknown)
        }
        let expected = Self.nextAnswer[event].flatMap { $0[index] }
        #expect(state.turn.answer == expected ?? answer, "\(answer) \(event)")
      }
    }
  }

  @Test("what follows from the answer: it has begun, may begin, may be announced, is chunked, ends with the connection")
  func derivedOfAnswer() {
    let facts = Self.answers.map { answer in
      let state = Self.state(answering: answer)
      return [state.hasResponded, state.mayAnswer, state.takesInterim, state.isChunked, state.isCloseDelimited]
    }
    #expect(
      facts == [
        [false, true, true, false, false], [false, true, false, false, false], [true, false, false, false, false],
        [true, false, false, true, false], [true, false, false, false, true], [true, false, false, false, false],
      ])
  }

  static let framings: [(ContentLength, HTTPVersion, isHead: Bool, BodyFraming, HTTP1State.Framing, persists: Bool)] = [
    (.none, .http11, false, .none, .counted, true), (.known(3), .http11, false, .length(3), .counted, true),
    (.known(3), .http10, true, .length(3), .counted, true), (.unknown, .http11, true, .none, .counted, true),
    (.unknown, .http11, false, .chunked, .chunked, true), (.unknown, .http10, true, .none, .counted, true),
    (.unknown, .http10, false, .none, .untilClose, false),
  ]

  @Test("framing, by length, version and method (RFC 9112 §6)", arguments: framings)
  func framing(
    _ length: ContentLength, _ version: HTTPVersion, isHead: Bool, _ framing: BodyFraming,
    _ answer: HTTP1State.Framing, persists: Bool
  ) {
    var state = HTTP1State()
    state.begin(HTTP1State.Turn(version: version, isHead: isHead))
    state.respond()
    #expect(Self.result { state.frame(length) } == framing)
    #expect(state.turn.answer == .begun(answer) && state.turn.persists == persists)
  }

  @Test("nothing of a request is left for the next")
  func turn() {
    var state = Self.state(answering: .begun(.untilClose))
    state.turn.wish = .drained
    state.awaitRequest()
    #expect(state.turn.persists && state.turn.wish == .none && !state.turn.isHead && state.turn.version == .http11)
    #expect(!state.turn.isClientsLast)
    #expect(!state.hasResponded)
  }

  @Test("an end that was decided stays: of the connection, and of the client's side")
  func ends() {
    var state = Self.state(answering: .awaited)
    state.endsHere()
    state.clientEnds()
    state.respond()
    #expect(!state.turn.persists && state.hasClientEnded)
    state.flush()
    #expect(!state.turn.persists && state.hasClientEnded && state.phase == .flushing)
  }

  private static func nothing(_ event: () -> Void) -> Bool? {
    event()
    return nil
  }

  private static func result<Result>(_ event: () -> Result) -> Result { event() }

  private static func state(in phase: Phase) -> HTTP1State {
    var state = HTTP1State()
    switch phase {
    case .fresh: break
    case .idle: state.seesPreface(false)
    case .inHead: _ = state.headBegins()
    case .exchanging:
      state.begin(HTTP1State.Turn())
      state.respond()
    case .flushing: state.flush()
    case .lingering: state.linger()
    case .closed: state.close()
    }
    return state
  }

  private static func state(answering answer: Answer) -> HTTP1State {
    var state = HTTP1State()
    let isOld = answer == .begun(.untilClose)
    state.begin(HTTP1State.Turn(version: isOld ? .http10 : .http11))
    switch answer {
    case .awaited: break
    case .unheard: state.writeFailed()
    case .begun(.counted), .sent: state.respond()
    case .begun(.chunked), .begun(.untilClose):
      state.respond()
      _ = state.frame(.unknown)
    }
    if answer == .sent { state.answerIsSent() }
    return state
  }
}
