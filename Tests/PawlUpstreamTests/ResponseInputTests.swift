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

  @Test(
    "content that came with its head is whole by its length, up to 64 KiB",
    arguments: [
      (.length(0), 0, 0), (.length(0), 3, 0), (.length(5), 4, nil), (.length(5), 5, 5), (.length(5), 6, 5),
      (.length(65_536), 70_000, 65_536), (.length(65_537), 70_000, nil), (.length(.max), 5, nil), (.none, 5, nil),
      (.chunked, 5, nil), (.untilClose, 5, nil),
    ] as [(BodyFraming, Int, Int?)])
  func whole(_ framing: BodyFraming, _ arrived: Int, _ content: Int?) {
    let octets = [UInt8](repeating: 0x61, count: arrived)
    octets.withUnsafeBytes { #expect(ResponseInput.whole(framing, in: $0)?.count == content) }
  }
}
