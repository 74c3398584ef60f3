import PawlHTTP
import Testing

@testable import PawlCache

@Suite("Spellings of a target (RFC 3986 §6.2.2)") struct PercentSpellingTests {
  @Test(
    "capital letters, and nothing encoded that need not be; what is reserved or no byte stays",
    arguments: [
      ("/a", "/a"), ("/caf%c3%a9/", "/caf%C3%A9/"), ("/caf%C3%A9", "/caf%C3%A9"), ("/%64%7E%2d%2E%5f", "/d~-._"),
      ("/a%2fb%3F%25", "/a%2Fb%3F%25"), ("/%", "/%"), ("/%4", "/%4"), ("/%zz%4g", "/%zz%4g"), ("/%%64", "/%d"),
      ("/%25%36%34", "/%2564"), ("/a?b=%e2", "/a?b=%E2"), ("/%41", "/A"), ("/%2", "/%2"), ("", ""),
    ])
  func normalised(_ text: String, _ expected: String) {
    #expect(PercentSpelling.normalised(Bytes(text)) == Bytes(expected))
    #expect(PercentSpelling.normalised(Bytes("/" + text).dropFirst()) == Bytes(expected), "a slice")
  }

  @Test(
    "of what has percent signs the spellings in use, each once",
    arguments: [
      ("/a", ["/a"]), ("/%20", ["/%20"]), ("/%c3", ["/%c3", "/%C3"]), ("/%C3%a9", ["/%C3%a9", "/%C3%A9", "/%c3%a9"]),
      ("/%64", ["/%64", "/d"]),
    ])
  func common(_ target: String, _ expected: [String]) {
    #expect(PercentSpelling.common(of: Bytes(target)) == expected.map { Bytes($0) })
  }
}
