import PawlCache
import PawlHTTP
import Testing

@Suite("What a broken answer may be completed with") struct ResumabilityTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var asked: [String] = ["Range: bytes=10-19"]
    var status = 206
    var answer: [String] = ["Content-Range: bytes 10-19/100", "ETag: \"t\""]
    var framing = BodyFraming.length(10)
    var testDescription: String { "\(asked) -> \(status) \(answer) \(framing)" }
  }

  private func decide(_ row: Row) -> Resumability {
    .decide(
      Messages.response(row.answer, status: row.status), framing: row.framing, asked: Messages.fields(row.asked))
  }

  @Test(
    "of a 200 with all of its representation, whatever was asked",
    arguments: [
      Row(asked: [], status: 200, answer: []), Row(status: 200), Row(asked: ["If-None-Match: \"x\""], status: 200),
      Row(asked: [], status: 200, answer: ["Content-Encoding: gzip"], framing: .chunked),
    ])
  func whole(_ row: Row) { #expect(decide(row) == .whole) }

  @Test(
    "of a 206 whose place is certain with the rest of that part",
    arguments: [
      Row(), Row(framing: .chunked), Row(framing: .untilClose), Row(asked: ["Range: bytes=10-"]),
      Row(asked: ["Range: bytes=10-14,15-19"]), Row(asked: ["range: bytes=10-19", "If-Range: \"t\""]),
      // It need not be all that was asked for.
      Row(asked: ["Range: bytes=0-99"]), Row(answer: ["content-range: Bytes 10-19/100", "Content-Type: multipart/x"]),
    ])
  func part(_ row: Row) throws {
    guard case .part(let part) = decide(row) else { return #expect(Bool(false)) }
    #expect(part.range == ByteRange(first: 10, last: 19) && part.total == 100)
  }

  @Test(
    "of a 206 whose place is not certain, and of what is no representation, with nothing",
    arguments: [
      Row(answer: ["ETag: \"t\""]), Row(answer: ["Content-Range: bytes 10-19/100", "Content-Range: bytes 10-19/100"]),
      Row(answer: ["Content-Range: bytes 10-19"]), Row(answer: ["Content-Range: bytes 19-10/100"]),
      Row(answer: ["Content-Range: bytes 10-19/19"]), Row(answer: ["Content-Range: bytes 10-19/*"]),
      Row(answer: ["Content-Range: bytes */100"]), Row(answer: ["Content-Range: items 10-19/100"]),
      Row(framing: .length(9)), Row(framing: .length(11)), Row(framing: .none),
      Row(answer: ["Content-Type: multipart/byteranges; boundary=b"]),
      Row(answer: ["Content-Type: Multipart/ByteRanges;boundary=b", "Content-Range: bytes 10-19/100"]),
      Row(asked: ["Range: bytes=-90"]), Row(asked: ["Range: bytes=0-1,-90"]), Row(asked: []),
      Row(asked: ["Range: items=1-2"]), Row(asked: ["Range: bytes=10-19", "Range: bytes=10-19"]),
      Row(asked: ["Range: bytes=9-1"]), Row(status: 203), Row(status: 226), Row(status: 302), Row(status: 404),
      Row(status: 416), Row(status: 500), Row(status: 201), Row(status: 299),
    ])
  func never(_ row: Row) { #expect(decide(row) == .never) }
}
