import PawlHTTP
import PawlWire
import Testing

@Suite("What is read of a refused request") struct RefusedHeadTests {
  private static func words(_ text: String) -> [String] {
    let head = RefusedHead(Bytes(text))
    return [head.line, head.method, head.target, head.version, head.host].map(\.text)
  }

  @Test(
    "the line as it came, its words and the host",
    arguments: [
      ("", ["", "", "", "", ""]), ("\r\n\r\n", ["", "", "", "", ""]),
      ("GET", ["GET", "GET", "", "", ""]), ("GET /un", ["GET /un", "GET", "/un", "", ""]),
      ("GET /x HTTP/3.7\r\n\r\n", ["GET /x HTTP/3.7", "GET", "/x", "HTTP/3.7", ""]),
      ("\r\nGET  /a b HTTP/1.1\nA: b\nhOsT:  c d \n", ["GET  /a b HTTP/1.1", "GET", " /a b", "HTTP/1.1", "c d"]),
      ("GET HTTP/1.1\r\nHost: a", ["GET HTTP/1.1", "GET", "", "HTTP/1.1", "a"]),
      ("GET / HTTP/1.1\r\nA\r\n\r\nHost: behind", ["GET / HTTP/1.1", "GET", "/", "HTTP/1.1", ""]),
      ("\u{16}\u{3}\u{1}", ["\u{16}\u{3}\u{1}", "\u{16}\u{3}\u{1}", "", "", ""]),
    ])
  func words(_ text: String, _ expected: [String]) {
    #expect(Self.words(text) == expected)
  }

  @Test("the line and the host have a limit")
  func limits() {
    let long = String(repeating: "l", count: RefusedHead.limit)
    #expect(Self.words("GET /\(long)")[0].utf8.count == RefusedHead.limit)
    let fits = String(long.dropLast("GET / HTTP/1.1".utf8.count))
    #expect(Self.words("GET /\(fits) HTTP/1.1\r\nHost: \(long)").suffix(2) == ["HTTP/1.1", long])
    #expect(Self.words("GET /\(fits)l HTTP/1.1\r\nHost: \(long)l").suffix(2) == ["HTTP/1.", long])
  }

  @Test("over HTTP/2 the words come by themselves")
  func overHTTP2() {
    let head = RefusedHead(method: Bytes("GET"), target: Bytes("x"), host: Bytes("a"))
    #expect(
      [head.line, head.method, head.target, head.version, head.host].map(\.text) == [
        "GET x HTTP/2.0", "GET", "x", "HTTP/2.0", "a",
      ])
    #expect(RefusedHead(method: [], target: [], host: []).line.isEmpty)
  }
}
