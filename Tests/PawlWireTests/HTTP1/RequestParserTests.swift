import PawlHTTP
import PawlTestKit
import PawlWire
import Testing

@Suite("Request parser") struct RequestParserTests {
  @Test(
    "takes a head at the limit and refuses one byte or line more with 431 (Hygiene, \"large head\")",
    arguments: Fragmenter.allCases)
  func limits(_ fragmenter: Fragmenter) {
    let head = "GET / HTTP/1.1\r\nHost: a\r\nA: bcdefghij\r\n\r\n"
    let count = head.utf8.count
    let outcome = "GET / a 1.1 none|A: bcdefghij"
    #expect(requestOutcome(latin(head), fragmenter, limits: HeadLimits(maxHead: count)) == outcome)
    #expect(requestOutcome(latin(head), fragmenter, limits: HeadLimits(maxHead: count - 1)) == "431")
    #expect(requestOutcome(latin(head), fragmenter, limits: HeadLimits(maxHead: 30)) == "431")
    #expect(requestOutcome(latin(head), fragmenter, limits: HeadLimits(maxFields: 2)) == outcome)
    #expect(requestOutcome(latin(head), fragmenter, limits: HeadLimits(maxFields: 1)) == "431")
    let aliases = "GET / HTTP/1.1\r\nHost: a\r\na_b: c\r\n\r\n"
    #expect(requestOutcome(latin(aliases), fragmenter, limits: HeadLimits(maxFields: 1)) == "431")
  }

  @Test("a body behind the head does not count against the head", arguments: Fragmenter.allCases)
  func body(_ fragmenter: Fragmenter) {
    let message = latin("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n" + String(repeating: "x", count: 500))
    let outcome = requestOutcome(message, fragmenter, limits: HeadLimits(maxHead: 100))
    #expect(outcome == "PUT / a 1.1 500|Content-Length: 500 +500")
  }

  @Test("reads a fault in an unfinished line at once when the line came whole")
  func early() {
    #expect(requestOutcome(latin("GET / HTTP/1.1\r\nA b"), .whole) == "400")
    #expect(requestOutcome(latin("SSH-2.0-x"), .whole) == "more")
    #expect(requestOutcome([0x16, 0x03, 0x01], .whole) == "400")
  }

  @Test("leaves ranges into the buffer for the hot path")
  func ranges() {
    let message = latin("HEAD http://A:81/x?y HTTP/1.1\r\nHost: b\r\nRange: bytes=0-1 \r\nrange: c\r\nX-Own: d\r\n\r\n")
    let buffer = ReceiveBuffer(message, arrived: message.count)
    var parser = RequestParser()
    #expect(parser.parse(buffer.bytes, buffer.range) == .head(byteCount: message.count))
    func text(_ range: Range<Int>?) -> String? { range.map { buffer.bytes[$0].text } }
    #expect(text(parser.methodRange) == "HEAD")
    #expect(text(parser.targetRange) == "/x?y")
    #expect(text(parser.authorityRange) == "A:81")
    #expect(!parser.authorityIsLowercase)
    #expect(!parser.targetNeedsRewriting)
    #expect(parser.isHead && !parser.isGet && parser.method != .other)
    #expect(text(parser.first(.range)) == "bytes=0-1")
    #expect(text(parser.first(.host)) == "b")
    #expect(parser.first(.cookie) == nil)
    #expect(parser.contains(.range) && !parser.contains(.cookie))
    #expect(parser.lines.map { buffer.bytes[$0.nameRange].text } == ["Host", "Range", "range", "X-Own"])
  }

  @Test("reads one head after another with the same parser, nothing left over from the last")
  func reuse() {
    var parser = RequestParser()
    let first = latin("POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\nCookie: b\r\n\r\n")
    let second = latin("GET /2 HTTP/1.1\r\nHost: C\r\n\r\n")
    let bytes = first + second
    #expect(parser.parse(bytes, 0..<bytes.count) == .head(byteCount: first.count))
    #expect(!parser.expectsContinue)
    #expect(parser.parse(bytes, first.count..<bytes.count) == .head(byteCount: second.count))
    #expect(describe(parser.makeHead(bytes)) == "GET /2 c 1.1 none")
    #expect(!parser.contains(.cookie) && parser.lines.count == 1 && parser.isGet)
  }

  @Test("starts over when the head has moved, and forgets what a reset interrupts")
  func moved() {
    let message = latin("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    var parser = RequestParser()
    #expect(parser.parse(latin("..") + message, 2..<25) == .needMore)
    #expect(parser.parse(message, 0..<message.count) == .head(byteCount: message.count))
    #expect(parser.parse(latin("PUT / HTTP/1.1\r\nA: b\r\n"), 0..<22) == .needMore)
    parser.reset()
    #expect(parser.parse(message, 0..<message.count) == .head(byteCount: message.count))
    #expect(describe(parser.makeHead(message)) == "GET / a 1.1 none")
  }

  @Test("never reads beyond the range it is given")
  func bounds() {
    let message = latin("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    for end in 0..<message.count {
      var parser = RequestParser()
      #expect(parser.parse(message, 0..<end) == .needMore)
    }
  }
}
