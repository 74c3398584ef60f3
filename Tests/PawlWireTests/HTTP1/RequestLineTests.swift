import PawlTestKit
import PawlWire
import Testing

@Suite("Request line limits and schemes") struct RequestLineTests {
  /// A request whose request line has this many bytes.
  private static func request(lineLength: Int) -> [UInt8] {
    let path = String(repeating: "p", count: lineLength - "GET / HTTP/1.1".utf8.count)
    return latin("GET /\(path) HTTP/1.1\r\nHost: a\r\n\r\n")
  }

  @Test(
    "accepts a request line of 8000 bytes and of the limit, and refuses one more with 414 (Hygiene, \"long request line\")"
  )
  func length() {
    #expect(requestOutcome(Self.request(lineLength: 8000), .whole).hasSuffix(" a 1.1 none"))
    for fragmenter in Fragmenter.allCases {
      let limits = HeadLimits(maxRequestLine: 100)
      #expect(requestOutcome(Self.request(lineLength: 100), fragmenter, limits: limits).hasSuffix(" a 1.1 none"))
      #expect(requestOutcome(Self.request(lineLength: 101), fragmenter, limits: limits) == "414")
      #expect(requestOutcome(latin("GET /" + String(repeating: "p", count: 200)), fragmenter, limits: limits) == "414")
    }
    #expect(requestOutcome(Self.request(lineLength: 16 << 10), .whole).hasSuffix(" a 1.1 none"))
    #expect(requestOutcome(Self.request(lineLength: (16 << 10) + 1), .whole) == "414")
  }

  @Test("names the first fault, however the line comes in", arguments: Fragmenter.allCases)
  func order(_ fragmenter: Fragmenter) {
    let limits = HeadLimits(maxRequestLine: 40)
    let long = String(repeating: "p", count: 60)
    #expect(requestOutcome(latin("GET /#\(long) HTTP/1.1\r\n"), fragmenter, limits: limits) == "400")
    #expect(requestOutcome(latin("GET /\(long)# HTTP/1.1\r\n"), fragmenter, limits: limits) == "414")
    #expect(requestOutcome(latin(long + " / HTTP/1.1\r\n"), fragmenter, limits: limits) == "501")
  }

  @Test(
    "an absolute target has the scheme of the listener (Hygiene, \"absolute target\")", arguments: Fragmenter.allCases)
  func scheme(_ fragmenter: Fragmenter) {
    let secure = latin("GET https://a/b HTTP/1.1\r\nHost: c\r\n\r\n")
    let plain = latin("GET http://a/b HTTP/1.1\r\nHost: c\r\n\r\n")
    #expect(requestOutcome(secure, fragmenter, isSecure: true) == "GET /b a 1.1 none")
    #expect(requestOutcome(plain, fragmenter, isSecure: true) == "400")
    #expect(requestOutcome(secure, fragmenter) == "400")
  }
}
