import PawlHTTP
import Testing

@Suite("Entity tags (RFC 9110 §8.8.3)") struct EntityTagTests {
  @Test(
    "reads exactly one tag",
    arguments: [("\"a\"", false, "a"), ("W/\"a\"", true, "a"), ("\"\"", false, ""), ("\"a,b\"", false, "a,b")])
  func reads(_ text: String, _ isWeak: Bool, _ opaque: String) throws {
    let tag = try #require(EntityTag(Bytes(within: text)))
    #expect(tag.isWeak == isWeak)
    #expect(tag.opaque.text == opaque)
    #expect(tag.bytes.text == text)
  }

  @Test(
    "refuses anything else",
    arguments: [
      "", "a", "\"", "\"a", "a\"", "W/", "W/a", "w/\"a\"", "W\\\"a\"", "W\"a\"", "W /\"a\"", "\"a\" ", " \"a\"", "*",
      "\"a\", \"b\"", "\"a\"\"b\"", "\"a b\"", "\"a\tb\"", "\"a\u{7f}\"", "'a'",
    ])
  func refuses(_ text: String) { #expect(EntityTag(Bytes(within: text)) == nil) }

  @Test("keeps bytes that are no text") func obsText() {
    let value: [UInt8] = [0x22, 0xfc, 0x80, 0x22]
    #expect(EntityTag(value[...])?.opaque == [0xfc, 0x80])
    #expect(EntityTag(value[...])?.bytes == value)
  }

  @Test("a backslash escapes nothing") func noEscapes() {
    #expect(EntityTag(Bytes("\"a\\\""))?.opaque.text == "a\\")
    #expect(EntityTag(Bytes("\"a\\\"b\"")) == nil)
  }

  @Test(
    "compares as the table of §8.8.3.2",
    arguments: [
      ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
      ("W/\"1\"", "\"1\"", false, true), ("\"1\"", "\"1\"", true, true), ("\"a\"", "\"A\"", false, false),
    ])
  func compares(_ a: String, _ b: String, _ strongly: Bool, _ weakly: Bool) throws {
    let (a, b) = (try #require(EntityTag(Bytes(a))), try #require(EntityTag(Bytes(b))))
    #expect(a.matchesStrongly(b) == strongly)
    #expect(b.matchesStrongly(a) == strongly)
    #expect(a.matchesWeakly(b) == weakly)
  }

  @Test("pawl's own tags are strong") func own() {
    #expect(EntityTag(strong: Array("x".utf8)).bytes.text == "\"x\"")
  }

  @Test(
    "reads lists on any number of lines",
    arguments: [
      (["\"a\""], ["\"a\""]), (["\"a\", W/\"b\""], ["\"a\"", "W/\"b\""]),
      (["\"a\",,\t\"b,c\" ,"], ["\"a\"", "\"b,c\""]),
      (["\"a\"", "\"b\""], ["\"a\"", "\"b\""]), ([""], []), ([","], []), (["\"a\\\", \"b\""], ["\"a\\\"", "\"b\""]),
    ])
  func lists(_ lines: [String], _ tags: [String]) {
    guard case .tags(let read) = EntityTagList(lines.map { Bytes(within: $0) }) else {
      Issue.record("no list")
      return
    }
    #expect(read.map(\.bytes.text) == tags)
  }

  @Test("reads a lone star") func star() { #expect(EntityTagList([Bytes(" * ")]) == .any) }

  @Test(
    "refuses lists that are not only tags",
    arguments: [
      [], ["a"], ["\"a\", b"], ["*, \"a\""], ["\"a\"", "*"], ["*", "*"], ["\"a\" \"b\""], ["\"a\"; x"], ["\"a"],
    ])
  func refusesLists(_ lines: [String]) { #expect(EntityTagList(lines.map { Bytes(within: $0) }) == nil) }
}
