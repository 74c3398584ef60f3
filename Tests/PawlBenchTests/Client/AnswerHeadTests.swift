import Testing

@testable import PawlBench

@Suite("Heads of answers, as the load tester reads them") struct AnswerHeadTests {
  private func parse(_ text: String) -> AnswerHead.Parse { AnswerHead.parse(Array(text.utf8).span) }

  @Test("status, length, framing and range")
  func reads() {
    let text =
      "HTTP/1.1 206 Partial Content\r\nContent-Type: a/b\r\ncontent-range:bytes 3-5/10 \r\n"
      + "CONTENT-LENGTH: 3\r\nConnection: close\r\n\r\nabc"
    var head = AnswerHead()
    (head.status, head.length, head.closes) = (206, 3, true)
    head.contentRange = AnswerHead.ContentRange(first: 3, last: 5, total: 10)
    #expect(parse(text) == .head(head, count: text.utf8.count - 3))
  }

  @Test("until its empty line came, more is needed")
  func needsMore() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nA: b\r\n\r\n"
    for count in 0..<text.utf8.count {
      #expect(parse(String(decoding: text.utf8.prefix(count), as: UTF8.self)) == .needMore, "\(count)")
    }
  }

  @Test(
    "what is no head is told at once",
    arguments: [
      "HTTP/1.1 2x0 OK\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1234567890123456789\r\n\r\n",
    ])
  func malformed(_ text: String) { #expect(parse(text) == .malformed) }

  @Test("a connection of HTTP/1.0 ends with the answer, unless it says otherwise")
  func old() {
    func closes(_ text: String) -> Bool? {
      guard case .head(let head, _) = parse(text) else { return nil }
      return head.closes
    }
    #expect(closes("HTTP/1.0 200 OK\r\n\r\n") == true)
    #expect(closes("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n") == false)
    #expect(closes("HTTP/1.1 200 OK\r\n\r\n") == false)
  }

  @Test(
    "Content-Range",
    arguments: [
      ("bytes 0-0/1", AnswerHead.ContentRange(first: 0, last: 0, total: 1)),
      ("bytes 5-9/*", AnswerHead.ContentRange(first: 5, last: 9, total: nil)),
      ("bytes 5-4/10", nil), ("bytes 5-10/10", nil), ("bytes */10", nil), ("items 0-0/1", nil), ("bytes 0-0/1,", nil),
      ("bytes 0-0", nil), ("", nil),
    ])
  func ranges(_ text: String, _ wanted: AnswerHead.ContentRange?) {
    let bytes = Array(text.utf8)
    #expect(AnswerHead.contentRange(bytes.span, 0..<bytes.count) == wanted)
  }

  @Test("other fields are found by name, and only whole names")
  func fields() {
    let text = Array("HTTP/1.1 200 OK\r\nX-ETag: no\r\nETag:  \"a\" \r\nLocation:\r\n\r\n".utf8)
    #expect(AnswerHead.text("etag", in: text.span) == "\"a\"")
    #expect(AnswerHead.text("location", in: text.span) == "")
    #expect(AnswerHead.text("tag", in: text.span) == nil)
    #expect(AnswerHead.end(in: text.span) == text.count)
  }
}
