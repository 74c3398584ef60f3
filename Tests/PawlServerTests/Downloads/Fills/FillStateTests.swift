import PawlCache
import Testing

@testable import PawlServer

@Suite("Where a fill is") struct FillStateTests {
  typealias Flow = FillState.Flow
  private static var flows: [Flow] {
    [
      .coming(.open), .coming(.held), .coming(.writing(isHeld: false, nil)),
      .coming(.writing(isHeld: false, .ended(at: 7))), .coming(.writing(isHeld: false, .failed(.gaveUp("x")))), .over,
    ]
  }

  private static let events: [(String, @Sendable (inout FillState) -> String)] = [
    ("a piece goes to the pool", { $0.writes() ? "begun" : "no" }),
    ("it is written", { "\($0.written().map(shown) ?? "no end")" }),
    ("the end comes", { $0.ends(.ended(at: 9)) ? "waits" : "at once" }),
    ("a failure comes", { $0.ends(.failed(.gaveUp("y"))) ? "waits" : "at once" }),
    ("a piece is there", { state in said { state.comes(mustWait: false) } }),
    ("a piece is there, and readers are behind", { state in said { state.comes(mustWait: true) } }),
    ("readers move", { $0.moves() ? "more" : "no" }),
    ("readers leave", { $0.goesOnUnread() ? "more" : "no" }),
    ("it lets go", { state in said { state.letsGo() } }),
  ]

  /// What each event says in a state, and where the fill is then.
  static func table() -> String {
    flows.map { flow in
      "\(shown(flow))\n"
        + events.map { name, event in
          var state = FillState(flow)
          let said = event(&state)
          return "  \(name): \(said)" + (state.flow == flow ? "\n" : " -> \(shown(state.flow))\n")
        }.joined()
    }.joined()
  }

  private static func said(_ act: () -> Void) -> String {
    act()
    return "-"
  }

  private static func shown(_ flow: Flow) -> String {
    switch flow {
    case .coming(.open): "going"
    case .coming(.held): "waiting"
    case .coming(.writing(let isHeld, nil)): isHeld ? "writing, then waiting" : "writing"
    case .coming(.writing(_, let end?)): "writing, then \(shown(end))"
    case .over: "over"
    }
  }

  private static func shown(_ end: FillState.End) -> String {
    switch end {
    case .ended(let at): "ended at \(at)"
    case .failed: "failed"
    }
  }

  @Test("every event in every state: one piece at a time is written, and ends wait for it")
  func transitions() { #expect(Self.table() == Self.expected) }

  @Test("once past the disk, it stays there; the window is taken only there")
  func keeping() {
    var state = FillState()
    state.takesWindow()
    #expect(state.keeping == .file)
    state.streams()
    #expect(state.keeping == .memory(hasWindow: false))
    state.takesWindow()
    #expect(state.keeping == .memory(hasWindow: true))
    state.streams()
    #expect(state.keeping == .memory(hasWindow: true))
  }

  @Test("how far it goes on unread is known only where it is measured")
  func unread() {
    var state = FillState()
    #expect(state.allowance == nil)
    state.unread = .goesOn
    #expect(state.allowance == nil)
    let allowance = AbandonedUnknown(at: 5, abandonedFill: 10)
    state.unread = .measured(allowance)
    #expect(state.allowance == allowance)
  }

  private static let expected = """
    going
      a piece goes to the pool: begun -> writing
      it is written: no end
      the end comes: at once
      a failure comes: at once
      a piece is there: -
      a piece is there, and readers are behind: - -> waiting
      readers move: no
      readers leave: more
      it lets go: - -> over
    waiting
      a piece goes to the pool: begun -> writing, then waiting
      it is written: no end
      the end comes: at once
      a failure comes: at once
      a piece is there: - -> going
      a piece is there, and readers are behind: -
      readers move: more -> going
      readers leave: more -> going
      it lets go: - -> over
    writing
      a piece goes to the pool: no
      it is written: no end -> going
      the end comes: waits -> writing, then ended at 9
      a failure comes: waits -> writing, then failed
      a piece is there: -
      a piece is there, and readers are behind: -
      readers move: no
      readers leave: no
      it lets go: - -> over
    writing, then ended at 7
      a piece goes to the pool: no
      it is written: ended at 7 -> going
      the end comes: waits -> writing, then ended at 9
      a failure comes: waits -> writing, then failed
      a piece is there: -
      a piece is there, and readers are behind: -
      readers move: no
      readers leave: no
      it lets go: - -> over
    writing, then failed
      a piece goes to the pool: no
      it is written: failed -> going
      the end comes: waits -> writing, then ended at 9
      a failure comes: waits -> writing, then failed
      a piece is there: -
      a piece is there, and readers are behind: -
      readers move: no
      readers leave: no
      it lets go: - -> over
    over
      a piece goes to the pool: no
      it is written: no end
      the end comes: at once
      a failure comes: at once
      a piece is there: -
      a piece is there, and readers are behind: -
      readers move: no
      readers leave: no
      it lets go: -

    """
}
