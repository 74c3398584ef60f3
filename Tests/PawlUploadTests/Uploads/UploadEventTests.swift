import PawlUpload
import Testing

@Suite("The phases of an upload") struct UploadEventTests {
  /// A row for each event, a column for each phase: what it becomes, `-` where that is refused, `!` where nobody asks for it.
  private static let table = """
                         open     complete   forwarding sent     answered unknown  invalid  removed
    completed            complete -          -          -        -        -        -        -
    attemptBegan         !        forwarding -          -        -        -        -        -
    requestSent          !        -          sent       -        -        -        -        -
    attemptFailed        !        -          complete   complete -        -        -        -
    cameBack             !        -          -          complete -        -        -        -
    answered             !        -          answered   answered -        -        -        -
    outcomeLost          !        -          unknown    unknown  -        -        -        -
    resendOrdered        -        -          -          -        -        complete -        -
    invalidated          invalid  invalid    -          -        -        -        -        -
    removed              removed  removed    -          -        removed  removed  removed  -
    expired              removed  removed    -          -        removed  -        removed  -
    crowdedOut           !        !          !          !        removed  !        removed  -
    undone               removed  removed    !          !        !        !        removed  -
    foundWhole           complete !          !          !        !        !        !        !
    fileLost             invalid  invalid    invalid    -        !        -        !        !
    resendOrderedAtRest  -        complete   complete   complete -        complete -        -
    removedAtRest        removed  removed    removed    removed  removed  removed  removed  -
    """

  private static let rows = table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }

  @Test("each event leads to where the table says, from each phase")
  func steps() throws {
    #expect(Self.rows.first == UploadPhase.allCases.map { "\($0)" })
    #expect(Self.rows.dropFirst().map(\.first) == UploadEvent.allCases.map { "\($0)" })
    for (event, row) in zip(UploadEvent.allCases, Self.rows.dropFirst()) {
      for (phase, expected) in zip(UploadPhase.allCases, row.dropFirst()) {
        #expect(text(phase.step(on: event)) == expected, "\(event) in \(phase)")
      }
    }
  }

  private func text(_ step: UploadStep) -> String {
    switch step {
    case .to(let phase): "\(phase)"
    case .refused: "-"
    case .impossible: "!"
    }
  }

  @Test("what has gone to the origin, or is over, is never open again; what is removed stays so")
  func noWayBack() {
    for event in UploadEvent.allCases {
      for phase in UploadPhase.allCases { #expect(phase.step(on: event) != .to(.open)) }
      if case .to = UploadPhase.removed.step(on: event) { Issue.record("\(event) of a removed one") }
    }
  }

  @Test("an answered upload is only ever removed")
  func answered() {
    for event in UploadEvent.allCases {
      let step = UploadPhase.answered.step(on: event)
      #expect([.to(.removed), .refused, .impossible].contains(step))
    }
  }

  @Test("an attempt is recorded as what it is when the process ends, all others as they are")
  func recorded() {
    for phase in UploadPhase.allCases { #expect(phase.recorded == (phase == .forwarding ? .complete : phase)) }
  }
}
