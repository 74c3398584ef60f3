import PawlHTTP
import PawlWire
import Testing

@Suite("Response parser") struct ResponseParserTests {
  @Test("reads interim and final heads one after another")
  func sequence() {
    let bytes = latin("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\nHTTP/1.0 404\r\n\r\n")
    var parser = ResponseParser()
    var at = 0
    var heads: [ResponseHead] = []
    while case .head(let head, let count) = parser.parse(bytes, at..<bytes.count) {
      at += count
      heads.append(head)
      if at == bytes.count { break }
    }
    #expect(at == bytes.count)
    #expect(heads.map(\.status) == [100, 200, 404])
    #expect(heads.map { describe($0.fields) } == [[], ["A: b   c"], []])
  }

  @Test("forgets what a reset interrupts")
  func reset() {
    let bytes = latin("HTTP/1.1 200 OK\r\n\r\n")
    var parser = ResponseParser()
    guard case .needMore = parser.parse(latin("HTTP/1.1 404 X\r\nA: b"), 0..<20) else {
      Issue.record("the head is not complete")
      return
    }
    parser.reset()
    guard case .head(let head, bytes.count) = parser.parse(bytes, 0..<bytes.count) else {
      Issue.record("the head is complete")
      return
    }
    #expect(head == ResponseHead(status: 200, reason: Bytes("OK")))
  }
}
