import PawlHTTP
import PawlTestKit
import PawlWire
import Testing

@Suite("What a request head means for its connection") struct RequestFramingTests {
  private static func parse(_ text: String) -> RequestParser {
    var parser = RequestParser()
    let bytes = latin(text)
    guard case .head = parser.parse(bytes, 0..<bytes.count) else {
      Issue.record("refused: \(text)")
      return parser
    }
    return parser
  }

  @Test(
    "says whether the connection lives on (RFC 9112 §9.3)",
    arguments: [
      ("1.1", "A: b", true), ("1.1", "Connection: close", false), ("1.1", "Connection: x, CLOSE ,y", false),
      ("1.1", "Connection: closed", true), ("1.1", "Connection: keep-alive, close", false),
      ("1.1", "Connection: x\r\nConnection: close", false), ("1.0", "A: b", false),
      ("1.0", "Connection: Keep-Alive", true), ("1.0", "Connection: close\r\nConnection: keep-alive", false),
    ])
  func keepsAlive(_ version: String, _ lines: String, _ expected: Bool) {
    #expect(Self.parse("GET / HTTP/\(version)\r\nHost: a\r\n\(lines)\r\n\r\n").keepsAlive == expected)
  }

  @Test("a client waits for 100 only in HTTP/1.1 (Hygiene, \"expectation\")")
  func expectation() {
    let fields = "Host: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"
    #expect(Self.parse("PUT / HTTP/1.1\r\n" + fields).expectsContinue)
    #expect(!Self.parse("PUT / HTTP/1.0\r\n" + fields).expectsContinue)
    #expect(!Self.parse("PUT / HTTP/1.1\r\nHost: a\r\n\r\n").expectsContinue)
  }

  @Test("the authority of an absolute target takes the place of Host (Hygiene, \"absolute target\")")
  func host() {
    let bytes = latin("GET http://Real:81/ HTTP/1.1\r\nHost: other\r\n\r\n")
    var parser = RequestParser()
    #expect(parser.parse(bytes, 0..<bytes.count) == .head(byteCount: bytes.count))
    let head = parser.makeHead(bytes)
    #expect(head.authority.text == "real:81")
    #expect(describe(head.fields) == ["Host: real:81"])
  }

  @Test("the copied head does not depend on the buffer")
  func copy() {
    var bytes = latin("GET /x HTTP/1.1\r\nHost: A\r\nB: c\r\n\r\n")
    var parser = RequestParser()
    #expect(parser.parse(bytes, 0..<bytes.count) == .head(byteCount: bytes.count))
    let head = parser.makeHead(bytes)
    for at in bytes.indices { bytes[at] = 0 }
    #expect(describe(head) == "GET /x a 1.1 none|B: c")
    #expect(describe(head.fields) == ["Host: A", "B: c"])
  }
}
