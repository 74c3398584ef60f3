import Testing

@testable import PawlUploadStore

@Suite("Who may add to an upload") struct WritingRightTests {
  private struct Claim: UploadClaim {
    var writer: Int
    var isReadOnly: Bool
  }
  private typealias Hold = WritingRight<Claim>

  // A row for each state: who has the right, what is done with the file, who waits; a column for each event. What it becomes; `=`
  // where that changes nothing, `!` where it is impossible; `*`: the write that ended was one of somebody who was overtaken.

  /// Changing hands.
  private static let hands = """
                          look                 write                 leave           late displace
    vacant                vacant<look          vacant<write          =               =    =
    vacant<look           =                    vacant<write          vacant          =    =
    vacant<write          vacant<look          =                     vacant          =    =
    vacant.writing        vacant.writing<look  vacant.writing<write  =               =    =
    vacant.writing<look   =                    vacant.writing<write  vacant.writing  =    =
    vacant.writing<write  vacant.writing<look  =                     vacant.writing  =    =
    vacant.settling       vacant.settling<look vacant.settling<write =               =    =
    vacant.settling<look  =                    vacant.settling<write vacant.settling =    =
    vacant.settling<write vacant.settling<look =                     vacant.settling =    =
    reader                vacant<look          vacant<write          vacant          =    vacant
    reader.settling       vacant.settling<look vacant.settling<write vacant.settling =    vacant.settling
    writer                vacant<look          vacant<write          vacant          =    vacant
    writer.writing        vacant.writing<look  vacant.writing<write  vacant.writing  =    vacant.writing
    writer.settling       vacant.settling<look vacant.settling<write vacant.settling =    vacant.settling
    verifier              vacant<look          vacant<write          vacant          =    vacant
    verifier.writing      vacant.writing<look  vacant.writing<write  vacant.writing  =    vacant.writing
    verifier.settling     vacant.settling<look vacant.settling<write vacant.settling =    vacant.settling
    """

  /// What comes before the next one.
  private static let steps = """
                          cut                   open                  go     changing settled
    vacant                vacant.settling       =                     =      =        !
    vacant<look           vacant.settling<look  reader                reader =        !
    vacant<write          vacant.settling<write vacant.settling<write writer =        !
    vacant.writing        =                     =                     =      =        !
    vacant.writing<look   =                     =                     =      =        !
    vacant.writing<write  =                     =                     =      =        !
    vacant.settling       =                     =                     =      =        vacant
    vacant.settling<look  =                     =                     =      =        vacant<look
    vacant.settling<write =                     =                     =      =        vacant<write
    reader                reader.settling       =                     =      =        !
    reader.settling       =                     =                     =      =        reader
    writer                writer.settling       =                     =      =        !
    writer.writing        =                     =                     =      =        !
    writer.settling       =                     =                     =      =        writer
    verifier              verifier.settling     =                     =      =        !
    verifier.writing      =                     =                     =      =        !
    verifier.settling     =                     =                     =      =        verifier
    """

  /// Writing and verifying.
  private static let writing = """
                          began            ended         verify            verified        goBack
    vacant                !                !             =                 =               =
    vacant<look           !                !             =                 =               =
    vacant<write          !                !             =                 =               =
    vacant.writing        !                vacant*       =                 =               =
    vacant.writing<look   !                vacant<look*  =                 =               =
    vacant.writing<write  !                vacant<write* =                 =               =
    vacant.settling       !                !             =                 =               =
    vacant.settling<look  !                !             =                 =               =
    vacant.settling<write !                !             =                 =               =
    reader                !                !             =                 =               =
    reader.settling       !                !             =                 =               =
    writer                writer.writing   !             verifier          =               =
    writer.writing        !                writer        verifier.writing  =               =
    writer.settling       !                !             verifier.settling =               =
    verifier              verifier.writing !             =                 writer          writer
    verifier.writing      !                verifier      =                 writer.writing  writer.writing
    verifier.settling     !                !             =                 writer.settling writer.settling
    """

  @Test("each event leads to where the table says, from each state", arguments: [hands, steps, writing])
  func table(_ table: String) throws {
    let rows = table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    let (events, reached) = (try #require(rows.first), Self.reached())
    #expect(Set(rows.dropFirst().map { $0[0] }) == Set(reached.keys))
    for row in rows.dropFirst() {
      for (event, expected) in zip(events, row.dropFirst()) {
        var hold = try #require(reached[row[0]])
        let mark = Self.take(event, &hold)
        let after = Self.text(hold) + (mark == "*" ? "*" : "")
        let outcome = mark == "!" ? "!" : after == row[0] ? "=" : after
        // What is impossible changes nothing.
        if mark == "!" { #expect(after == row[0]) }
        #expect(outcome == expected, "\(event) in \(row[0])")
      }
    }
  }

  private static let events = [
    "look", "write", "leave", "late", "displace", "cut", "open", "go", "changing", "settled", "began", "ended",
    "verify", "verified", "goBack",
  ]

  /// Every state that can be come to, by what it is called.
  private static func reached() -> [String: Hold] {
    var found: [String: Hold] = [:]
    var new = [Hold()]
    while let hold = new.popLast() {
      guard found[text(hold)] == nil else { continue }
      found[text(hold)] = hold
      for event in events {
        var next = hold
        _ = take(event, &next)
        new.append(next)
      }
    }
    return found
  }

  /// - Returns: `!` where it is impossible, `*` where a write of one who was overtaken ended.
  private static func take(_ event: String, _ hold: inout Hold) -> String {
    var isPossible = true
    switch event {
    case "look": _ = hold.takenOver(by: Claim(writer: 1, isReadOnly: true))
    case "write": _ = hold.takenOver(by: Claim(writer: 2, isReadOnly: false))
    case "leave": _ = hold.released(hold.generation)
    case "late": _ = hold.released(hold.generation &- 1)
    case "displace": _ = hold.displaced()
    case "cut": _ = hold.nextStep(.init(cut: 1))
    case "open": _ = hold.nextStep(.init(isOpen: false))
    case "go": _ = hold.nextStep(.init())
    case "changing": _ = hold.nextStep(.init(isOpen: false, phase: .changing))
    case "settled": isPossible = hold.settled()
    case "began": isPossible = hold.writeBegan()
    case "ended":
      switch hold.writeEnded() {
      case .counts: break
      case .overtaken: return "*"
      case .impossible: isPossible = false
      }
    case "verify": _ = hold.verifyingBegan(hold.generation)
    case "verified": _ = hold.verified(hold.generation)
    case "goBack": hold.verifyingEnded()
    default: Issue.record("no such event: \(event)")
    }
    return isPossible ? "" : "!"
  }

  private static func text(_ hold: Hold) -> String {
    let seat =
      switch hold.seat {
      case .vacant: "vacant"
      case .reader: "reader"
      case .writer: "writer"
      case .verifier: "verifier"
      }
    let work = hold.work == .idle ? "" : ".\(hold.work)"
    return seat + work + (hold.next.map { $0.isReadOnly ? "<look" : "<write" } ?? "")
  }

  @Test("who is displaced leaves an end that its write under way cannot reach, and what was not verified")
  func displaced() {
    for (event, leavesEnd) in [("settled", true), ("began", false)] {
      var hold = Hold()
      _ = hold.takenOver(by: Claim(writer: 7, isReadOnly: false))
      _ = hold.nextStep(.init())
      #expect(hold.verifyingBegan(hold.generation) == true)
      _ = Self.take(event, &hold)
      let ended = hold.displaced()
      #expect(ended.holder == 7 && ended.leavesEnd == leavesEnd && ended.leavesUnverified)
      let again = hold.displaced()
      #expect(again.holder == nil && !again.leavesEnd && !again.leavesUnverified)
    }
  }

  @Test("of several who take over, the last is granted the right, and those before wait no more")
  func superseded() {
    var hold = Hold()
    #expect(hold.takenOver(by: Claim(writer: 1, isReadOnly: false)).superseded == nil)
    let first = hold.generation
    #expect(hold.takenOver(by: Claim(writer: 2, isReadOnly: true)).superseded?.writer == 1)
    guard case .grant(let claim) = hold.nextStep(.init()) else { return #expect(Bool(false)) }
    #expect(claim.writer == 2 && !hold.admits(first) && !hold.admits(hold.generation))
    #expect(hold.released(first) == nil)
  }

  @Test("what failed is not tried again before somebody takes over; who waits is let in and told when it writes")
  func broken() {
    var hold = Hold()
    _ = hold.takenOver(by: Claim(writer: 1, isReadOnly: false))
    _ = hold.nextStep(.init(cut: 1))
    hold.failed()
    #expect(hold.settled() && hold.isBroken)
    guard case .grant = hold.nextStep(.init(cut: 1, isOpen: false)) else { return #expect(Bool(false)) }
    _ = hold.takenOver(by: Claim(writer: 2, isReadOnly: false))
    #expect(!hold.isBroken)
    guard case .cut(1) = hold.nextStep(.init(cut: 1, isOpen: false)) else { return #expect(Bool(false)) }
  }

  @Test("a file that is freed is neither cut nor, where nothing is taken any more, opened")
  func freed() {
    var hold = Hold()
    _ = hold.takenOver(by: Claim(writer: 1, isReadOnly: false))
    guard case .grant = hold.nextStep(.init(cut: 1, isFreed: true, isOpen: false, phase: .over)) else {
      return #expect(Bool(false))
    }
  }
}
