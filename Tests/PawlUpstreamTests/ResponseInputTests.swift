import PawlHTTP
import Testing

@testable import PawlUpstream

@Suite("Whether a response leaves its connection open (RFC 9112 §9.3)") struct ResponseInputTests {
  static let cases: [(HTTPVersion, String?, Bool)] = [
    (.http11, nil, true), (.http11, "keep-alive", true), (.http11, "close", false), (.http11, "x, CLOSE", false),
    (.http11, "keep-alive, close", false), (.http10, nil, false), (.http10, "Keep-Alive", true),
    (.http10, "keep-alive, close", false),
  ]

  @Test("by version and Connection", arguments: cases)
  func keepsAlive(_ version: HTTPVersion, _ connection: String?, _ keepsAlive: Bool) {
    var head = ResponseHead(status: 200, version: version)
    if let connection { head.fields.append(.connection, connection) }
    var input = ResponseInput()
    input.takeFinal(head, .length(0), isEarly: false)
    #expect(input.keepsAlive == keepsAlive)
    #expect(input.hasFinalHead)
    input.restart()
    #expect(!input.hasFinalHead)
  }
}
