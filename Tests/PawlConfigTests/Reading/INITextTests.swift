import Testing

@testable import PawlConfig

@Suite("Lines of an INI text") struct INITextTests {
  @Test(
    "are sections, entries or nothing",
    arguments: [
      ("[a:b]", INILine.section("a:b")), ("  [ a ]\t", .section("a")), ("k=v", .entry(key: "k", value: "v")),
      ("a_b = x = y ", .entry(key: "a-b", value: "x = y")), ("k =", .entry(key: "k", value: "")),
      ("k = http://x/#y;z", .entry(key: "k", value: "http://x/#y;z")),
      ("k = v\r", .entry(key: "k", value: "v")), ("k = ü", .entry(key: "k", value: "ü")),
      ("k", .unreadable("k")), ("k v {", .unreadable("k v {")),
      ("[a", .malformedSection("expected [section] or [section:NAME], found \"[a\"")),
      ("=v", .malformed("expected a key before =")), ("k = \u{1}", .malformed("holds a control character")),
    ])
  func reads(_ text: String, _ expected: INILine) {
    #expect(readINI(Array(text.utf8)).map(\.line) == [expected])
  }

  @Test("are counted from 1, over comments, blank lines and a byte order mark")
  func numbers() {
    let text = "\u{feff}# one\n\n[a]\n ; four\nk = v"
    #expect(readINI(Array(text.utf8)).map(\.number) == [3, 5])
  }

  @Test("must be UTF-8")
  func encoding() {
    #expect(readINI([0x6b, 0x3d, 0xff]).map(\.line) == [.malformed("not UTF-8")])
  }
}
