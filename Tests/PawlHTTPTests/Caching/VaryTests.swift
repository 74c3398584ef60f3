import PawlHTTP
import Testing

@Suite("Vary (RFC 9110 §12.5.5, RFC 9111 §4.1)") struct VaryTests {
  @Test("names are lower-case, sorted, each once") func names() {
    let rule = VaryRule(fields(("Vary", "Foo, accept-encoding,,FOO"), ("vary", "Bar")))
    #expect(rule.names.map(\.text) == ["accept-encoding", "bar", "foo"])
    #expect(!rule.isStar)
    #expect(VaryRule(fields()).names.isEmpty)
    #expect(VaryRule(fields(("Vary", ""))) == VaryRule(fields()))
  }

  @Test(
    "a star anywhere, or what is no name, matches no request",
    arguments: [
      fields(("Vary", "*")), fields(("Vary", "*, *")), fields(("Vary", "*"), ("Vary", "*")), fields(("Vary", ", *")),
      fields(("Vary", ""), ("Vary", "*")), fields(("Vary", "*, Foo")), fields(("Vary", "Foo, *")),
      fields(("Vary", "Foo Bar")), fields(("Vary", "\"Foo\"")),
    ])
  func star(_ fields: Fields) { #expect(VaryRule(fields).isStar) }

  private func same(_ vary: String, _ a: Fields, _ b: Fields) -> Bool {
    let rule = VaryRule(fields(("Vary", vary)))
    return rule.selectingValues(in: a) == rule.selectingValues(in: b)
  }

  @Test(
    "the same request matches",
    arguments: [
      ("Foo", fields(("Foo", "1")), fields(("foo", "1"))),
      ("Foo", fields(("Foo", "1"), ("Other", "2")), fields(("Foo", "1"), ("Other", "3"))),
      ("Foo, Bar", fields(("Foo", "1"), ("Bar", "abc")), fields(("Bar", "abc"), ("Foo", "1"))),
      ("Foo, Bar", fields(("Foo", "1")), fields(("Foo", "1"))),
      ("Foo", fields(("Foo", "1, 2")), fields(("Foo", " 1, 2 "))),
      ("Accept", fields(("Accept", "a/b,c/d")), fields(("Accept", " a/b ,  c/d"))),
      ("Foo", fields(("Foo", "1, 2")), fields(("Foo", "1"), ("Foo", "2"))),
      ("Accept-Language", fields(("Accept-Language", "en, de")), fields(("Accept-Language", "eN, De"))),
      ("Accept-Language", fields(("Accept-Language", "en, de")), fields(("Accept-Language", " en ,   de"))),
      (
        "Accept-Language", fields(("Accept-Language", "fr;q=0.25, en;q=0.5, de")),
        fields(("Accept-Language", "de, en;q=0.5, fr;q=0.25"))
      ),
      (
        "Accept-Language", fields(("Accept-Language", "en;q=0.5, de")),
        fields(("Accept-Language", "de;q=1.0,en ; q=0.5"))
      ),
      (
        "Accept-Encoding", fields(("Accept-Encoding", "gzip, br")),
        fields(("Accept-Encoding", "BR"), ("Accept-Encoding", "gzip"))
      ),
    ])
  func matches(_ vary: String, _ a: Fields, _ b: Fields) { #expect(same(vary, a, b)) }

  @Test(
    "another request does not",
    arguments: [
      ("Foo", fields(("Foo", "1")), fields(("Foo", "2"))),
      ("Foo", fields(("Foo", "1")), fields()),
      ("Foo", fields(("Foo", "")), fields()),
      ("Foo", fields(("Foo", "a")), fields(("Foo", "A"))),
      ("Foo", fields(("Foo", "1, 2")), fields(("Foo", "2, 1"))),
      ("Foo", fields(("Foo", "k,1")), fields(("Foo", "k, 1"))),
      ("Foo", fields(("Foo", "k,1")), fields(("Foo", ",k,1,"))),
      ("Foo", fields(("Foo", "k,1")), fields(("Foo", "k,,1"))),
      ("User-Agent", fields(("User-Agent", "x (a, b)")), fields(("User-Agent", "x (a,b)"))),
      ("Accept-Language", fields(("Accept-Language", "en, de")), fields(("Accept-Language", "de, en"))),
      ("Accept", fields(("Accept", "a/b, c/d")), fields(("Accept", "c/d, a/b"))),
      ("Foo", fields(("Foo", "\"1, 2\"")), fields(("Foo", "\"1,2\""))),
      ("Foo, Bar", fields(("Foo", "1")), fields(("Bar", "1"))),
      ("Foo, Bar", fields(("Foo", "1"), ("Bar", "2")), fields(("Foo", "1,bar:2"))),
      ("Cookie", fields(("Cookie", "a=1, 2")), fields(("Cookie", "a=1,2"))),
      ("Cookie", fields(("Cookie", "a=1")), fields(("Cookie", "a=1"), ("Cookie", "a=1"))),
      ("Accept-Language", fields(("Accept-Language", "en;q=0.5, de")), fields(("Accept-Language", "en, de;q=0.5"))),
      ("Accept-Encoding", fields(("Accept-Encoding", "gzip;q=0")), fields(("Accept-Encoding", "gzip"))),
      ("Accept-Encoding", fields(("Accept-Encoding", "gzip;q=1.001")), fields(("Accept-Encoding", "gzip"))),
      ("Accept-Encoding", fields(("Accept-Encoding", "")), fields()),
    ])
  func differs(_ vary: String, _ a: Fields, _ b: Fields) { #expect(!same(vary, a, b)) }

  @Test("without Vary all requests are one") func none() {
    #expect(VaryRule(fields()).selectingValues(in: fields(("Foo", "1"))).isEmpty)
  }
}
