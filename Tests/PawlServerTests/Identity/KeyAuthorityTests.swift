import PawlHTTP
import Testing

@testable import PawlServer

@Suite("The authority in a cache key") struct KeyAuthorityTests {
  @Test(
    "tells https from http whatever port a client writes, and leaves the default port out",
    arguments: [
      ("site", false, "site"), ("site:80", false, "site"), ("site:443", false, "site:443"),
      ("site:8080", false, "site:8080"), ("site", true, "\u{1}site"), ("site:443", true, "\u{1}site"),
      ("site:80", true, "\u{1}site:80"), ("site:8443", true, "\u{1}site:8443"), ("[::1]", true, "\u{1}[::1]"),
      ("[::80]", false, "[::80]"), ("[::1]:80", false, "[::1]"), ("[::1]:443", true, "\u{1}[::1]"),
      ("", false, ""), ("", true, "\u{1}"),
    ])
  func authority(_ given: String, _ isSecure: Bool, _ key: String) {
    #expect(KeyAuthority.of(Bytes(given), isSecure: isSecure) == Bytes(key))
    #expect(KeyAuthority.lend(Bytes("x" + given)[1...], isSecure: isSecure) { Array($0) } == Array(key.utf8))
  }
}
