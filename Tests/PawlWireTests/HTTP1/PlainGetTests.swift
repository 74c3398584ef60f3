import PawlHTTP
import PawlTestKit
import PawlWire
import Testing

@Suite("A plain GET") struct PlainGetTests {
  private func plainGet(_ head: String) -> (PlainGet, [UInt8])? {
    let buffer = latin(head)
    var parser = RequestParser()
    guard case .head = parser.parse(buffer, 0..<buffer.count) else { return nil }
    return parser.plainGet().map { ($0, buffer) }
  }

  @Test("is found with its range, its identifier, and whether it has cookies or names a scheme")
  func found() {
    let head =
      "GET /x?y HTTP/1.1\r\nHost: a:81\r\nRange: bytes=0-1\r\nIf-Range: \"a\"\r\nX-Request-Id: id\r\nCookie: c\r\nVia: 1.1 a\r\nX-Forwarded-Proto: https\r\n\r\n"
    guard let (get, buffer) = plainGet(head) else { return #expect(Bool(false), "no plain GET") }
    #expect(buffer[get.authority].text == "a:81" && buffer[get.target].text == "/x?y")
    #expect(get.range.map { buffer[$0].text } == "bytes=0-1" && get.requestID.map { buffer[$0].text } == "id")
    #expect(get.ifRange.map { buffer[$0].text } == "\"a\"")
    #expect(get.hasCookie && get.namesScheme && get.hasVia)
    guard let (plain, _) = plainGet("GET / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n") else {
      return #expect(Bool(false), "no plain GET")
    }
    #expect(plain.range == nil && plain.requestID == nil && !plain.hasCookie && !plain.namesScheme && !plain.hasVia)
  }

  @Test(
    "says whether its client asks more on the connection",
    arguments: ["", "Connection: close\r\n", "Connection: x\r\n"])
  func connection(_ line: String) {
    let get = plainGet("GET / HTTP/1.1\r\nHost: a\r\n\(line)\r\n")?.0
    #expect(get?.keepsAlive == (line != "Connection: close\r\n"))
  }

  @Test(
    "is none that asks for more, or could be read in two ways",
    arguments: [
      "HEAD / HTTP/1.1\r\nHost: a\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n",
      "GET / HTTP/1.0\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: A\r\n", "GET http://a?q HTTP/1.1\r\nHost: a\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nIf-Range: \"a\"\r\n", "GET / HTTP/1.1\r\nHost: a\r\nIf-Match: \"a\"\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n", "GET / HTTP/1.1\r\nHost: a\r\nIf-Modified-Since: x\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nIf-Unmodified-Since: x\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nCache-Control: no-cache\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nPragma: no-cache\r\n", "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\n", "GET / HTTP/1.1\r\nHost: a\r\nTE: x\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\nRange: bytes=0-1\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: 1\r\nX-Request-Id: 2\r\n",
    ])
  func none(_ head: String) { #expect(plainGet(head + "\r\n") == nil) }
}
