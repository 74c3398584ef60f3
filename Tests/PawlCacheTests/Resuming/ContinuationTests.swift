import PawlCache
import PawlHTTP
import Testing

@Suite("Continuation of a broken transfer") struct ContinuationTests {
  /// A 5 MiB body of which 3 MiB are held.
  private static let total: UInt64 = 5 << 20
  private static let held: UInt64 = 3 << 20
  private static let from = held - 4096
  private static let rest: BodyFraming = .length(total - from)
  private static let tagged = ["ETag: \"a\"", "Content-Type: video/mp4"]
  private static let dated = [Messages.dated("Last-Modified", -90), Messages.dated("Date"), "Content-Type: video/mp4"]
  private static let weak = ["ETag: W/\"a\"", "Content-Type: video/mp4"]

  struct Row: Sendable, CustomTestStringConvertible {
    var first: [String] = ContinuationTests.tagged
    var firstTotal: UInt64? = ContinuationTests.total
    var status: Int
    var answer: [String]
    var framing: BodyFraming = .length(ContinuationTests.total)
    var canReplay = true
    var isOtherNode = false
    var joinsLater = false
    var expected: Continuation
    var testDescription: String { "\(first) of \(firstTotal ?? 0) -> \(status) \(answer) \(framing)" }
  }

  private static func identity(_ row: Row) -> RepresentationIdentity {
    RepresentationIdentity(
      head: Messages.response(row.first), framing: row.firstTotal.map { .length($0) } ?? .chunked,
      receivedAt: Messages.now)
  }

  private static func judge(_ asked: ResumeDecision, _ row: Row) -> Continuation {
    judgeContinuation(
      asked: asked, identity: identity(row), answer: Messages.response(row.answer, status: row.status),
      framing: row.framing, canReplay: row.canReplay, isOtherNode: row.isOtherNode, joinsLater: row.joinsLater)
  }

  private static func range(_ first: UInt64 = from, _ last: UInt64 = total - 1, _ total: String = "5242880") -> String {
    "Content-Range: bytes \(first)-\(last)/\(total)"
  }

  @Test(
    "joins only a 206 that goes on exactly there with the same bytes",
    arguments: [
      Row(status: 206, answer: [range(), "ETag: \"a\""], framing: rest, expected: .append(from: from)),
      Row(status: 206, answer: [range(), "ETag: \"a\""], framing: .chunked, expected: .append(from: from)),
      Row(
        status: 206, answer: [range(from, from + 9), "ETag: \"a\""], framing: .length(10), expected: .append(from: from)
      ),
      Row(status: 206, answer: [range(), "ETag: \"b\""], framing: rest, expected: .rangesRefused),
      Row(status: 206, answer: [range(), "ETag: W/\"a\""], framing: rest, expected: .rangesRefused),
      Row(status: 206, answer: [range()], framing: rest, expected: .rangesRefused),
      Row(status: 206, answer: [range(), "ETag: \"a\"", "ETag: \"a\""], framing: rest, expected: .rangesRefused),
      Row(status: 206, answer: ["ETag: \"a\""], framing: rest, expected: .rangesRefused),
      Row(status: 206, answer: [range(), range(), "ETag: \"a\""], framing: rest, expected: .rangesRefused),
      Row(status: 206, answer: [range(from + 1), "ETag: \"a\""], framing: .chunked, expected: .rangesRefused),
      Row(status: 206, answer: [range(from - 1), "ETag: \"a\""], framing: .chunked, expected: .rangesRefused),
      Row(status: 206, answer: [range(0), "ETag: \"a\""], framing: .chunked, expected: .rangesRefused),
      Row(
        status: 206, answer: [range(from, total - 1, "5242881"), "ETag: \"a\""], framing: rest,
        expected: .rangesRefused),
      Row(status: 206, answer: [range(from, total - 1, "*"), "ETag: \"a\""], framing: rest, expected: .rangesRefused),
      Row(
        status: 206, answer: [range(from, total - 1, "5"), "ETag: \"a\""], framing: rest, expected: .rangesRefused),
      // The length of the message and of the range disagree.
      Row(status: 206, answer: [range(), "ETag: \"a\""], framing: .length(10), expected: .rangesRefused),
      Row(
        status: 206, answer: [range(), "ETag: \"a\"", "Content-Encoding: gzip"], framing: rest,
        expected: .rangesRefused),
      Row(
        status: 206, answer: [range(), "ETag: \"a\"", "Content-Encoding: identity"], framing: rest,
        expected: .append(from: from)),
      Row(
        status: 206, answer: [range(), "ETag: \"a\"", "Content-Type: Multipart/byteranges; boundary=x"], framing: rest,
        expected: .rangesRefused),
      Row(
        status: 206, answer: ["ETag: \"a\"", "Content-Type: multipart/byteranges; boundary=x"], framing: rest,
        expected: .rangesRefused),
      // A date for validator.
      Row(
        first: dated, status: 206, answer: [range(), Messages.dated("Last-Modified", -90)], framing: rest,
        expected: .append(from: from)),
      Row(
        first: dated, status: 206, answer: [range(), Messages.dated("Last-Modified", -89)], framing: rest,
        expected: .rangesRefused),
      Row(first: dated, status: 206, answer: [range()], framing: rest, expected: .rangesRefused),
      Row(
        first: dated, status: 206, answer: [range(), Messages.dated("Last-Modified", -90), "ETag: \"a\""],
        framing: rest, expected: .rangesRefused),
      Row(
        first: dated + ["ETag: W/\"a\""], status: 206,
        answer: [range(), Messages.dated("Last-Modified", -90), "ETag: W/\"a\""], framing: rest,
        expected: .append(from: from)),
      Row(
        first: dated + ["ETag: W/\"a\""], status: 206,
        answer: [range(), Messages.dated("Last-Modified", -90), "ETag: W/\"b\""], framing: rest,
        expected: .rangesRefused),
      // A length that was not known is learnt.
      Row(
        firstTotal: nil, status: 206, answer: [range(), "ETag: \"a\""], framing: rest, expected: .append(from: from)),
      Row(
        firstTotal: nil, status: 206, answer: [range(from, total - 1, "*"), "ETag: \"a\""], framing: rest,
        expected: .rangesRefused),
    ])
  func parts(_ row: Row) {
    #expect(Self.judge(.askForRest(from: Self.from, overlap: 4096, ifRange: []), row) == row.expected)
  }

  @Test(
    "compares a 200 that may be the same, and refuses one that is not",
    arguments: [
      Row(status: 200, answer: tagged, expected: .replay),
      Row(status: 200, answer: tagged, framing: .chunked, expected: .replay),
      Row(status: 200, answer: ["ETag: \"a\""], expected: .replay),
      Row(status: 200, answer: tagged, canReplay: false, expected: .rangesRefused),
      Row(status: 200, answer: ["ETag: \"b\""], canReplay: false, expected: .changed(.otherTag)),
      Row(status: 200, answer: ["ETag: \"b\"", "Content-Type: video/mp4"], expected: .changed(.otherTag)),
      Row(status: 200, answer: ["ETag: W/\"b\"", "Content-Type: video/mp4"], expected: .changed(.otherTag)),
      Row(status: 200, answer: weak, expected: .replay),
      Row(status: 200, answer: tagged, framing: .length(total + 1), expected: .changed(.otherLength)),
      Row(firstTotal: nil, status: 200, answer: tagged, framing: .length(total + 1), expected: .replay),
      Row(status: 200, answer: tagged + ["Content-Encoding: gzip"], expected: .changed(.otherEncoding)),
      // The tag is gone: the rest has to agree.
      Row(status: 200, answer: ["Content-Type: video/mp4"], expected: .replay),
      Row(status: 200, answer: ["Content-Type: text/html"], expected: .changed(.otherType)),
      Row(status: 200, answer: [], expected: .changed(.otherType)),
      // Weak tags, dates and nothing.
      Row(first: weak, status: 200, answer: weak, expected: .replay),
      Row(
        first: weak, status: 200, answer: ["ETag: W/\"b\"", "Content-Type: video/mp4"], expected: .changed(.otherTag)),
      Row(first: weak, status: 200, answer: ["ETag: W/\"a\"", "Content-Type: x/y"], expected: .changed(.otherType)),
      Row(first: dated, status: 200, answer: dated, expected: .replay),
      Row(
        first: dated, status: 200, answer: [Messages.dated("Last-Modified", -80), "Content-Type: video/mp4"],
        expected: .changed(.otherDate)),
      Row(
        first: tagged + dated, status: 200, answer: tagged + [Messages.dated("Last-Modified", -80)], expected: .replay),
      Row(first: dated, status: 200, answer: ["Content-Type: video/mp4"], expected: .replay),
      Row(first: [], status: 200, answer: [], expected: .replay),
      Row(first: [], status: 200, answer: [], framing: .untilClose, expected: .replay),
      // Bytes behind the replayed ones are not compared: only a strong validator proves that they are of the same content.
      Row(status: 200, answer: tagged, joinsLater: true, expected: .replay),
      Row(status: 200, answer: tagged, isOtherNode: true, joinsLater: true, expected: .changed(.unproven)),
      Row(status: 200, answer: ["Content-Type: video/mp4"], joinsLater: true, expected: .changed(.unproven)),
      Row(status: 200, answer: ["ETag: \"b\""], joinsLater: true, expected: .changed(.otherTag)),
      Row(first: dated, status: 200, answer: dated, joinsLater: true, expected: .replay),
      Row(
        first: dated, status: 200, answer: ["Content-Type: video/mp4"], joinsLater: true,
        expected: .changed(.unproven)),
      Row(first: weak, status: 200, answer: weak, joinsLater: true, expected: .changed(.unproven)),
      Row(first: [], status: 200, answer: [], joinsLater: true, expected: .changed(.unproven)),
      Row(first: [], status: 200, answer: [], framing: .length(total - 1), expected: .changed(.otherLength)),
      Row(first: [], status: 200, answer: ["Content-Type: x/y"], expected: .changed(.otherType)),
      Row(first: [], status: 200, answer: ["Content-Encoding: br"], expected: .changed(.otherEncoding)),
    ])
  func wholes(_ row: Row) {
    #expect(Self.judge(.askForRest(from: Self.from, overlap: 4096, ifRange: []), row) == row.expected)
    #expect(Self.judge(.replay(comparing: Self.held), row) == row.expected)
  }

  @Test(
    "knows what other statuses mean",
    arguments: [
      (304, .rangesRefused, .tryAgain), (412, .rangesRefused, .tryAgain), (500, .tryAgain, .tryAgain),
      (502, .tryAgain, .tryAgain), (503, .tryAgain, .tryAgain), (504, .tryAgain, .tryAgain),
      (408, .tryAgain, .tryAgain),
      (429, .tryAgain, .tryAgain), (404, .changed(.gone), .changed(.gone)), (410, .changed(.gone), .changed(.gone)),
      (401, .changed(.forbidden), .changed(.forbidden)), (403, .changed(.forbidden), .changed(.forbidden)),
      (302, .changed(.redirected), .changed(.redirected)), (307, .changed(.redirected), .changed(.redirected)),
      (400, .changed(.refused), .changed(.refused)), (451, .changed(.refused), .changed(.refused)),
      (204, .changed(.otherStatus), .changed(.otherStatus)), (203, .changed(.otherStatus), .changed(.otherStatus)),
      (416, .rangesRefused, .changed(.refused)), (600, .changed(.otherStatus), .changed(.otherStatus)),
    ] as [(Int, Continuation, Continuation)])
  func statuses(_ status: Int, _ ofRange: Continuation, _ ofReplay: Continuation) {
    let row = Row(status: status, answer: Self.tagged, expected: ofRange)
    #expect(Self.judge(.askForRest(from: Self.from, overlap: 4096, ifRange: []), row) == ofRange)
    #expect(Self.judge(.replay(comparing: Self.held), row) == ofReplay)
  }

  @Test("takes a part that nobody asked for as no answer, and nothing as an answer to nothing")
  func unasked() {
    let part = Row(status: 206, answer: [Self.range(), "ETag: \"a\""], framing: Self.rest, expected: .tryAgain)
    #expect(Self.judge(.replay(comparing: Self.held), part) == .tryAgain)
    #expect(Self.judge(.giveUp(.attemptsExhausted), part) == .changed(.nothingAsked))
  }

  @Test(
    "knows from a 416 that nothing was missing",
    arguments: [
      Row(status: 416, answer: ["Content-Range: bytes */5242880"], expected: .complete),
      Row(status: 416, answer: ["Content-Range: bytes */5242881"], expected: .rangesRefused),
      Row(status: 416, answer: ["Content-Range: bytes */*"], expected: .rangesRefused),
      Row(status: 416, answer: [], expected: .rangesRefused),
      Row(firstTotal: nil, status: 416, answer: ["Content-Range: bytes */5242880"], expected: .rangesRefused),
      Row(
        firstTotal: nil, status: 416, answer: ["Content-Range: bytes */5242880", "ETag: \"a\""], expected: .complete),
      Row(
        firstTotal: nil, status: 416, answer: ["Content-Range: bytes */5242880", "ETag: \"b\""],
        expected: .rangesRefused),
      Row(firstTotal: total + 1, status: 416, answer: ["Content-Range: bytes */5242880"], expected: .rangesRefused),
    ])
  func unsatisfied(_ row: Row) {
    #expect(Self.judge(.askForRest(from: Self.total, overlap: 0, ifRange: []), row) == row.expected)
  }

  @Test("tells where a part ends")
  func rangeEnd() {
    let answer = Messages.response(["Content-Range: bytes 10-19/100"], status: 206)
    #expect(RepresentationIdentity.rangeEnd(of: answer) == 20)
    #expect(RepresentationIdentity.rangeEnd(of: Messages.response([], status: 206)) == nil)
  }
}
