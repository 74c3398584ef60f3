import PawlHTTP
import PawlWire
import Testing

@Suite("Announced lengths of responses (RFC 9110 §8.6)") struct ResponseFramingTests {
  @Test("an answer to HEAD announces the length that GET would have")
  func head() throws {
    var head = ResponseHead(status: 200)
    #expect(try announcedLength(head) == nil)
    head.fields.append(.contentLength, "12")
    #expect(try responseFraming(head, requestMethod: .head) == .none)
    #expect(try announcedLength(head) == 12)
    head.fields.append(.contentLength, "13")
    #expect(throws: ProxyError.self) { try announcedLength(head) }
  }
}
