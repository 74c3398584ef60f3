import Testing

@testable import PawlBench

@Suite("Requests that are made once") struct RequestTextTests {
  @Test("what comes behind the fixed part can be exchanged, and HTTP/2 finds every line")
  func rewinds() {
    let request = RequestText(method: "GET", target: "/a?b", authority: "c.example:80")
    request.append("X-Key", "value")
    request.fix()
    for range in ["0-1", "2-345"] {
      request.rewind()
      request.append("Range") { $0 += "bytes=\(range)".utf8 }
      request.finish()
      let text = "GET /a?b HTTP/1.1\r\nHost: c.example:80\r\nX-Key: value\r\nRange: bytes=\(range)\r\n\r\n"
      #expect(String(decoding: request.bytes, as: UTF8.self) == text)
      func bytes(_ range: Range<Int>) -> String { String(decoding: request.bytes[range], as: UTF8.self) }
      #expect([request.method, request.target, request.authority].map(bytes) == ["GET", "/a?b", "c.example:80"])
      #expect(request.lines.map { bytes($0.name) } == ["X-Key", "Range"])
      #expect(request.lines.map { bytes($0.value) } == ["value", "bytes=\(range)"])
    }
  }
}
