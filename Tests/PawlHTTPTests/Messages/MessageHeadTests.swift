import PawlHTTP
import Testing

@Suite("Methods (RFC 9110 §9)") struct MessageHeadTests {
  @Test(
    "keep their spelling and their nature",
    arguments: [
      ("GET", true, true), ("HEAD", true, true), ("OPTIONS", true, true), ("TRACE", true, true), ("PUT", false, true),
      ("DELETE", false, true), ("POST", false, false), ("PATCH", false, false), ("CONNECT", false, false),
      ("get", false, false), ("M-SEARCH", false, false), ("PROPFIND", true, true), ("REPORT", true, true),
      ("SEARCH", true, true), ("QUERY", true, true), ("MKCOL", false, false), ("MOVE", false, false),
    ])
  func methods(_ token: String, _ isSafe: Bool, _ isIdempotent: Bool) {
    let method = Method(token.utf8)
    #expect(method.bytes.text == token)
    #expect(method.isSafe == isSafe)
    #expect(method.isIdempotent == isIdempotent)
    #expect(method.isRetrieval == ["GET", "HEAD"].contains(token))
  }

  @Test("case matters") func spelling() {
    #expect(Method("GET".utf8) == .get)
    #expect(Method("get".utf8) != .get)
  }
}
