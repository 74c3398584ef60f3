import Testing

@testable import PawlServer

@Suite("Content on its way to a file") struct WriteFlowTests {
  typealias Flow = WriteFlow<Int>

  private static let events: [(String, @Sendable (inout Flow) -> String)] = [
    ("a piece goes to the pool", { $0.writes() ? "begun" : "no" }),
    ("it is written", { "\($0.written())" }),
    ("the end comes", { $0.ends(9) ? "waits" : "at once" }),
    ("no more for now", { $0.holds() ? "held" : "no" }),
    ("more again", { $0.releases() ? "more" : "no" }),
  ]

  private static func table() -> String {
    let flows: [Flow] = [
      .open, .held, .writing(isHeld: false, nil), .writing(isHeld: true, nil), .writing(isHeld: false, 7),
      .writing(isHeld: true, 7),
    ]
    return flows.map { before in
      "\(shown(before))\n"
        + events.map { name, event in
          var flow = before
          let said = event(&flow)
          return "  \(name): \(said)" + (flow == before ? "\n" : " -> \(shown(flow))\n")
        }.joined()
    }.joined()
  }

  private static func shown(_ flow: Flow) -> String {
    switch flow {
    case .open, .held: "\(flow)"
    case .writing(let isHeld, let end):
      "writing" + (isHeld ? ", held" : "") + (end.map { ", end \($0)" } ?? "")
    }
  }

  @Test("every event in every state: one piece at a time is with the pool, and nothing overtakes it")
  func transitions() { #expect(Self.table() == Self.expected) }

  private static let expected = """
    open
      a piece goes to the pool: begun -> writing
      it is written: impossible
      the end comes: at once
      no more for now: held -> held
      more again: no
    held
      a piece goes to the pool: begun -> writing, held
      it is written: impossible
      the end comes: at once
      no more for now: held
      more again: more -> open
    writing
      a piece goes to the pool: no
      it is written: goOn -> open
      the end comes: waits -> writing, end 9
      no more for now: no
      more again: no
    writing, held
      a piece goes to the pool: no
      it is written: goOn -> held
      the end comes: waits -> writing, held, end 9
      no more for now: no
      more again: no -> writing
    writing, end 7
      a piece goes to the pool: no
      it is written: end(7) -> open
      the end comes: waits -> writing, end 9
      no more for now: no
      more again: no
    writing, held, end 7
      a piece goes to the pool: no
      it is written: end(7) -> held
      the end comes: waits -> writing, held, end 9
      no more for now: no
      more again: no -> writing, end 7

    """
}
