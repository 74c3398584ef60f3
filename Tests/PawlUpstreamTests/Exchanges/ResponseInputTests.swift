import PawlHTTP
import Testing

@testable import PawlUpstream

@Suite("Whether a response leaves its connection open (RFC 9112 §9.3)") struct ResponseInputTests {
  static let cases: [(HTTPVersion, String?, Bool)] = [
    (.http11, nil, true), (.http11, "keep-alive", true), (.http11, "close", false), (.http11, "x, CLOSE", false),
    (.http11, "keep-alive, close", false), (.http10, nil, false), (.http10, "Keep-Alive", true),
    (.http10, "keep-alive, close", false),
  ]

  @Test("by version and Connection", arguments: cases)
  func keepsAlive(_ version: HTTPVersion, _ connection: String?, _ keepsAlive: Bool) {
    var head = ResponseHead(status: 200, version: version)
    if let connection { head.fields.append(.connection, connection) }
    var input = ResponseInput()
    input.takeFinal(head, .length(0), isEarly: false)
    #expect(input.keepsAlive == keepsAlive)
    #expect(input.hasFinalHead)
    input.restart()
    #expect(!input.hasFinalHead)
  }

  @Test(
    "content that came with its head is whole by its length, up to 64 KiB",
    arguments: [
      (.length(0), 0, 0), (.length(0), 3, 0), (.length(5), 4, nil), (.length(5), 5, 5), (.length(5), 6, 5),
      (.length(65_536), 70_000, 65_536), (.length(65_537), 70_000, nil), (.length(.max), 5, nil), (.none, 5, nil),
      (.chunked, 5, nil), (.untilClose, 5, nil),
    ] as [(BodyFraming, Int, Int?)])
  func whole(_ framing: BodyFraming, _ arrived: Int, _ content: Int?) {
    let bytes = [UInt8](repeating: 0x61, count: arrived)
    bytes.withUnsafeBytes { #expect(ResponseInput.whole(framing, in: $0)?.count == content) }
  }

  @Test(
    "the last of a body, up to another share, is taken in the same turn, with the byte behind it",
    arguments: [
      (.length(0), 10, nil), (.length(1), 10, 2), (.length(10), 10, 11), (.length(11), 10, nil),
      (.length(.max), 10, nil), (.none, 10, nil), (.chunked, 10, nil), (.untilClose, 10, nil),
    ] as [(BodyFraming, Int, Int?)])
  func lastPiece(_ framing: BodyFraming, _ share: Int, _ wanted: Int?) {
    var input = ResponseInput()
    #expect(input.lastPiece(within: share) == nil)
    input.takeFinal(ResponseHead(status: 200), framing, isEarly: false)
    #expect(input.lastPiece(within: share) == wanted)
  }

  private typealias Stage = ResponseInput.Stage

  private enum Event: CaseIterable { case bytes, final, earlyFinal, outlive, endBeforeRequest, restart }

  private static let stages: [Stage] = [
    .awaited, .heads, .content(.afterRequest), .content(.early), .content(.outlived), .whole,
  ]

  /// The stage after each event, in the order of the stages; `nil`: impossible, and nothing changes.
  private static let next: [Event: [Stage?]] = [
    .bytes: [.heads, .heads, .content(.afterRequest), .content(.early), .content(.outlived), .whole],
    .outlive: [nil, nil, nil, .content(.outlived), nil, nil],
    .endBeforeRequest: [nil, nil, nil, nil, .whole, nil],
    .final: [Stage](repeating: .content(.afterRequest), count: 6),
    .earlyFinal: [Stage](repeating: .content(.early), count: 6),
    .restart: [Stage](repeating: .awaited, count: 6),
  ]

  @Test("its stages, by what comes")
  func stages() {
    for event in Event.allCases {
      for (index, stage) in Self.stages.enumerated() {
        var input = Self.input(in: stage)
        #expect(input.stage == stage)
        let expected = Self.next[event].flatMap { $0[index] }
        switch event {
        case .bytes: input.takeBytes()
        case .final: input.takeFinal(ResponseHead(status: 200), .length(1), isEarly: false)
        case .earlyFinal: input.takeFinal(ResponseHead(status: 200), .length(1), isEarly: true)
        case .outlive:
          let isPossible = input.outlive()
          #expect(isPossible == (expected != nil))
        case .endBeforeRequest:
          let isPossible = input.endBeforeRequest()
          #expect(isPossible == (expected != nil))
        case .restart: input.restart()
        }
        #expect(input.stage == expected ?? stage, "\(stage) \(event)")
      }
    }
  }

  @Test("what follows from each stage")
  func derived() {
    let facts = Self.stages.map { stage in
      let input = Self.input(in: stage)
      return [input.hasBegun, input.hasFinalHead, input.isEarly, input.letsRequestEnd, input.isWhole]
    }
    #expect(
      facts == [
        [false, false, false, false, false], [true, false, false, false, false], [true, true, false, false, false],
        [true, true, true, false, false], [true, true, true, true, false], [true, true, true, true, true],
      ])
  }

  private static func input(in stage: Stage) -> ResponseInput {
    var input = ResponseInput()
    if stage == .awaited { return input }
    input.takeBytes()
    if stage == .heads { return input }
    input.takeFinal(ResponseHead(status: 200), .length(1), isEarly: stage != .content(.afterRequest))
    if stage == .content(.outlived) || stage == .whole { input.outlive() }
    if stage == .whole { input.endBeforeRequest() }
    return input
  }
}
