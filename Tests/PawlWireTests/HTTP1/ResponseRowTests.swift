import PawlHTTP
import PawlTestKit
import PawlWire
import Testing

@Suite("Responses, row by row (Hygiene, \"Responses\")") struct ResponseRowTests {
  @Test("takes heads", arguments: ResponseRows.heads, Fragmenter.allCases)
  func heads(_ row: Row, _ fragmenter: Fragmenter) {
    #expect(responseOutcome(latin(row.input), fragmenter) == row.outcome)
  }

  @Test("frames the content in one way or not at all", arguments: ResponseRows.framing, Fragmenter.allCases)
  func framing(_ row: Row, _ fragmenter: Fragmenter) {
    #expect(framingOutcome(latin(row.input), fragmenter, .get) == row.outcome)
  }

  @Test(
    "an answer to HEAD has no content, whatever it says (Hygiene, \"bodiless responses\")",
    arguments: ResponseRows.framing)
  func head(_ row: Row) {
    #expect(framingOutcome(latin(row.input), .whole, .head) == "none")
  }

  @Test(
    "a head at the limit is taken, one byte or line more is not (Hygiene, \"large response head\")",
    arguments: Fragmenter.allCases)
  func limits(_ fragmenter: Fragmenter) {
    let text = "HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\n"
    let count = text.utf8.count
    let outcome = "200 OK 1.1|A: b|C: d"
    let kind = "httpResponseHeaderSectionSize"
    #expect(responseOutcome(latin(text), fragmenter, limits: HeadLimits(maxHead: count)) == outcome)
    #expect(responseOutcome(latin(text), fragmenter, limits: HeadLimits(maxHead: count - 1)) == kind)
    #expect(responseOutcome(latin(text), fragmenter, limits: HeadLimits(maxFields: 2)) == outcome)
    #expect(responseOutcome(latin(text), fragmenter, limits: HeadLimits(maxFields: 1)) == kind)
    #expect(responseOutcome(latin("HTTP/1.1 200 " + text), fragmenter, limits: HeadLimits(maxHead: 14)) == kind)
  }

  @Test(
    "content beyond its framing is left over, to be found out (Hygiene, \"bytes behind the response\")",
    arguments: Fragmenter.allCases)
  func extra(_ fragmenter: Fragmenter) {
    #expect(bodyOutcome(latin("abcdef"), .length(3), fragmenter) == "abc.[def]")
    #expect(bodyOutcome(latin("abc"), .none, fragmenter) == ".[abc]")
    #expect(bodyOutcome(latin("1\r\na\r\n0\r\n\r\nHTTP/1.1 200 OK"), .chunked, fragmenter) == "a.[HTTP/1.1 200 OK]")
  }

  @Test("a body that breaks off is never complete (Hygiene, \"truncated response\")", arguments: Fragmenter.allCases)
  func truncated(_ fragmenter: Fragmenter) {
    #expect(bodyOutcome(latin("abc"), .length(4), fragmenter) == "abc…")
    #expect(bodyOutcome([], .length(4), fragmenter) == "…")
    #expect(bodyOutcome(latin("3\r\nabc\r\n0\r\n"), .chunked, fragmenter) == "abc…")
    #expect(bodyOutcome(latin("3\r\nabc\r\n"), .chunked, fragmenter) == "abc…")
    #expect(bodyOutcome(latin("abc"), .untilClose, fragmenter) == "abc")
  }

  @Test(
    "chunk sizes overflow in responses no more than in requests (Hygiene, \"response chunks\")",
    arguments: Fragmenter.allCases)
  func overflow(_ fragmenter: Fragmenter) {
    #expect(bodyOutcome(latin("8000000000000000\r\nab"), .chunked, fragmenter) == "!")
  }
}

/// How a response's content ends, or the kind of the error.
private func framingOutcome(_ message: [UInt8], _ fragmenter: Fragmenter, _ method: Method) -> String {
  var parser = ResponseParser()
  for arrived in fragmenter.arrivals(message.count) {
    let buffer = ReceiveBuffer(message, arrived: arrived)
    guard case .head(let head, _) = parser.parse(buffer.bytes, buffer.range) else { continue }
    do {
      return describe(try responseFraming(head, requestMethod: method))
    } catch {
      return "\(error.kind)"
    }
  }
  return "no head"
}

private enum ResponseRows {
  static func response(_ number: Int, _ lines: String, _ outcome: String, status: String = "200 OK") -> Row {
    Row(number, "HTTP/1.1 \(status)\r\n\(lines)\r\n\r\n", outcome)
  }

  static let framing: [Row] = [
    response(55, "Content-Length: 5\r\nTransfer-Encoding: chunked", "httpProtocolError"),
    response(55, "Transfer-Encoding: identity\r\nContent-Length: 5", "httpProtocolError"),
    response(56, "Content-Length: 5\r\nContent-Length: 6", "httpProtocolError"),
    response(56, "Content-Length: 5, 6", "httpProtocolError"),
    response(56, "Content-Length: +5", "httpProtocolError"),
    response(56, "Content-Length: -1", "httpProtocolError"),
    response(56, "Content-Length:", "httpProtocolError"),
    response(56, "Content-Length: 5,", "httpProtocolError"),
    response(56, "Content-Length: 5 5", "httpProtocolError"),
    response(56, "Content-Length: 9223372036854775808", "httpProtocolError"),
    response(56, "Content-Length: 5, 5\r\nContent-Length: 5", "5"),
    response(56, "Content-Length: 9223372036854775807", "9223372036854775807"),
    response(56, "Content-Length: 0", "0"),
    response(57, "Transfer-Encoding: arizqhypgxofwne", "close"),
    response(57, "Transfer-Encoding: identity", "close"),
    response(57, "Transfer-Encoding: gzip", "close"),
    response(57, "Transfer-Encoding: gzip, chunked", "httpResponseTransferCoding"),
    response(57, "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "httpResponseTransferCoding"),
    response(57, "Transfer-Encoding: chunked, chunked", "httpProtocolError"),
    response(57, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "httpProtocolError"),
    response(57, "Transfer-Encoding: chunked, gzip", "httpProtocolError"),
    response(57, "Transfer-Encoding:", "httpProtocolError"),
    response(57, "Transfer-Encoding: Chunked", "chunked"),
    Row(57, "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "httpProtocolError"),
    response(57, "A: b", "close"),
    response(58, "Content-Length: 5", "none", status: "100 Continue"),
    response(58, "Transfer-Encoding: chunked", "none", status: "103 Early Hints"),
    response(58, "Content-Length: 5\r\nTransfer-Encoding: chunked", "none", status: "204 No Content"),
    response(58, "Content-Length: 5", "none", status: "304 Not Modified"),
  ]

  static let heads: [Row] = [
    response(58, "A: b", "204 No Content 1.1|A: b", status: "204 No Content"),
    response(61, "A : b\r\nC\t: d", "200 OK 1.1|A: b|C: d"),
    response(61, " : b", "httpProtocolError"),
    response(62, "A: b\r\n c\r\nD: e", "200 OK 1.1|A: b   c|D: e"),
    response(62, "A: b \r\n\t \tc\r\n d\r\nE: f", "200 OK 1.1|A: b      c   d|E: f"),
    response(62, "A:\r\n b", "200 OK 1.1|A: b"),
    response(62, "A: b\r\n ", "200 OK 1.1|A: b"),
    response(62, " A: b", "httpProtocolError"),
    response(63, "A: b\rc", "httpProtocolError"),
    response(63, "A: b\r\r", "httpProtocolError"),
    response(63, "A: \u{0}", "httpProtocolError"),
    response(63, "A: b\u{1}", "httpProtocolError"),
    response(63, "A: \u{7f}", "httpProtocolError"),
    response(63, "A: b\nc", "httpProtocolError"),
    response(63, "A\u{0}: b", "httpProtocolError"),
    response(63, "A: b\r\n \u{0}", "httpProtocolError"),
    response(63, "A: b", "httpProtocolError", status: "200 O\rK"),
    response(63, "A: b", "httpProtocolError", status: "200 O\u{0}K"),
    response(63, "abc", "httpProtocolError"),
    response(63, ": b", "httpProtocolError"),
    response(63, "A\u{e9}: b", "httpProtocolError"),
    response(63, "A: \u{e9}\t\u{80}", "200 OK 1.1|A: \u{e9}\t\u{80}"),
    Row(63, "HTTP/1.1 200 OK\nA: b\n\n", "200 OK 1.1|A: b"),
    Row(65, "HTTP/1.1 200\r\n\r\n", "200  1.1"),
    Row(65, "HTTP/1.1 200 \r\n\r\n", "200  1.1"),
    Row(65, "HTTP/1.0 404 Not here\r\n\r\n", "404 Not here 1.0"),
    Row(65, "HTTP/1.2 200 OK\r\n\r\n", "200 OK 1.1"),
    Row(65, "HTTP/1.1 999 X\r\n\r\n", "999 X 1.1"),
    Row(65, "HTTP/1.1 600\r\n\r\n", "600  1.1"),
    Row(65, "HTTP/1.1 099 X\r\n\r\n", "httpProtocolError"),
    Row(65, "HTTP/1.1 20 OK\r\n\r\n", "httpProtocolError"),
    Row(65, "HTTP/1.1 2000 OK\r\n\r\n", "httpProtocolError"),
    Row(65, "HTTP/1.1 +20 OK\r\n\r\n", "httpProtocolError"),
    Row(65, "HTTP/1.1 2x0 OK\r\n\r\n", "httpProtocolError"),
    Row(65, "HTTP/1.1 200OK\r\n\r\n", "httpProtocolError"),
    Row(65, "HTTP/1.1  200 OK\r\n\r\n", "httpProtocolError"),
    Row(65, "HTTP/1.1\t200 OK\r\n\r\n", "httpProtocolError"),
    Row(65, "HTTP/1.10 200 OK\r\n\r\n", "httpProtocolError"),
    Row(65, "HTTP/2.0 200 OK\r\n\r\n", "httpProtocolError"),
    Row(65, "HTTP/2 200\r\n\r\n", "httpProtocolError"),
    Row(65, "http/1.1 200 OK\r\n\r\n", "httpProtocolError"),
    Row(65, "ICY 200 OK\r\n\r\n", "httpProtocolError"),
    Row(65, "SSH-2.0-OpenSSH", "httpProtocolError"),
    Row(65, "\r\nHTTP/1.1 200 OK\r\n\r\n", "httpProtocolError"),
    Row(65, "<html>", "httpProtocolError"),
    Row(65, "HTTP/1.1 200 OK\r\nA: b\r\n", "more"),
    response(66, "Upgrade: x", "101 Switching Protocols 1.1|Upgrade: x", status: "101 Switching Protocols"),
    Row(67, "HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "103 Early 1.1|Link: a +19"),
    response(72, "Content-Range: garbage", "206 x 1.1|Content-Range: garbage", status: "206 x"),
    response(73, "ETag: \"x\"", "304 x 1.1|ETag: \"x\"", status: "304 x"),
    response(74, "Content-Encoding: zstd\r\nX_Y: z", "200 OK 1.1|Content-Encoding: zstd|X_Y: z"),
  ]
}
