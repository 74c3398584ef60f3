import PawlHTTP
import Testing

@testable import PawlServer

@Suite("The authority in a cache key") struct KeyAuthorityTests {
  @Test(
    "tells https from http where no port does",
    arguments: [
      ("site", false, "site"), ("site:80", false, "site:80"), ("site", true, "site:443"),
      ("site:443", true, "site:443"),
      ("site:8443", true, "site:8443"), ("[::1]", true, "[::1]:443"), ("[::1]:1", true, "[::1]:1"), ("", true, ""),
    ])
  func authority(_ given: String, _ isSecure: Bool, _ key: String) {
    #expect(KeyAuthority.of(Bytes(given), isSecure: isSecure) == Bytes(key))
  }
}
