import Testing

@testable import PawlConfig

@Suite("Paths of routes") struct SiteSectionTests {
  @Test(
    "match exactly, or as a prefix",
    arguments: [
      ("/a", false, "/a", true), ("/a", false, "/a/", false), ("/a", true, "/a", true), ("/a", true, "/ab", true),
      ("/a/", true, "/a", false), ("/", true, "/x", true), ("/a", true, "/", false),
    ])
  func matches(_ literal: String, _ isPrefix: Bool, _ path: String, _ expected: Bool) {
    #expect(PathPattern(literal: Array(literal.utf8), isPrefix: isPrefix).matches(Array(path.utf8)[...]) == expected)
  }

  @Test("are tried longest first, and the exact one before the prefix of its length")
  func order() {
    let patterns = [("/", true), ("/a*", false), ("/a", true), ("/a", false), ("/abc", true)].map { text, isPrefix in
      PathPattern(literal: Array(text.filter { $0 != "*" }.utf8), isPrefix: isPrefix)
    }
    #expect(patterns.sorted { $0.precedes($1) }.map(\.description) == ["/abc*", "/a", "/a", "/a*", "/*"])
  }
}
