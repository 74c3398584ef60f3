import PawlHTTP
import Testing

@Suite("Request targets (RFC 9112 §3.2)") struct RequestTargetTests {
  private func parse(_ text: String, _ method: Method = .get) -> RequestTarget? {
    RequestTarget.parse(Bytes(within: text), method: method)
  }

  @Test(
    "origin-form is kept byte for byte (Hygiene, \"path spelling\")",
    arguments: [
      "/", "/a/b?c=d&e", "/../../etc/passwd", "//a//b", "/%2e%2e/x", "/a%2fb", "/a;p=1/b", "/a%zz%", "/?", "/a?b?c",
      "/|{}^`\"<>[]",
      "/http://a/b", "/*", "/a:b@c",
    ])
  func originForm(_ text: String) throws {
    let target = try #require(parse(text))
    #expect(target == .origin(Bytes(text)))
    #expect(target.forwarded.text == text)
  }

  @Test(
    "absolute-form gives host and origin-form (Hygiene, \"absolute target\")",
    arguments: [
      ("http://a/", "http", "a", "/"), ("http://a", "http", "a", "/"), ("http://a?q", "http", "a", "/?q"),
      ("HTTP://Example.ORG:8080/P?q", "http", "example.org:8080", "/P?q"),
      ("https://[::1]:443/x", "https", "[::1]:443", "/x"), ("http://a//b/../c", "http", "a", "//b/../c"),
      ("http://a:/x", "http", "a", "/x"), ("ftp://a/x", "ftp", "a", "/x"),
    ])
  func absoluteForm(_ text: String, _ scheme: String, _ authority: String, _ target: String) throws {
    let read = try #require(parse(text))
    #expect(read == .absolute(scheme: Bytes(scheme), authority: Bytes(authority), target: Bytes(target)))
    #expect(read.forwarded.text == target)
  }

  @Test("OPTIONS may mean the server (Hygiene, \"asterisk\")") func asterisk() {
    #expect(parse("*", .options) == .asterisk)
    #expect(parse("*", .options)?.forwarded.text == "*")
    #expect(parse("http://a", .options)?.forwarded.text == "*")
    #expect(parse("http://a/", .options)?.forwarded.text == "/")
    #expect(parse("http://a?q", .options)?.forwarded.text == "/?q")
    for method in [Method.get, .head, .post, .connect, .other(Array("options".utf8))] {
      #expect(parse("*", method) == nil)
    }
  }

  @Test(
    "everything else is 400 (Hygiene, \"CONNECT\", \"target bytes\")",
    arguments: [
      "", "a", "a/b", "?q", "a:80", "**", "/a b", "/a\tb", "/a\rb", "/a\nb", "/a\0", "/a\u{7f}", "/a\u{1}", "/a\\b",
      "\\a",
      "/a#b", "#", "/b\u{fc}cher", "http:", "http:/", "http://", "http:///a", "http://?q", "http://:80/", "http://u@a/",
      "http://u:p@a/", "http://a b/", "http://a,b/", "http://a:x/", "http:a/", "://a/", "1http://a/", "ht tp://a/",
      "/a ", " /a",
    ])
  func refused(_ text: String) { #expect(parse(text) == nil) }

  @Test("CONNECT has no target here", arguments: ["a:443", "/", "http://a/"])
  func connect(_ text: String) { #expect(parse(text, .connect) == nil) }

  @Test(
    "the path ends before the query",
    arguments: [("/a/b", "/a/b"), ("/a?b", "/a"), ("/a?b?c", "/a"), ("/?", "/"), ("*", "*")])
  func path(_ target: String, _ path: String) {
    #expect(RequestTarget.path(of: Bytes(within: target)).text == path)
    #expect(parse("http://h/a?b")?.path.text == "/a")
  }
}
