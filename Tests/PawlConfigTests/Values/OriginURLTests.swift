import Testing

@testable import PawlConfig

@Suite("URLs of origins") struct OriginURLTests {
  @Test(
    "are shown in one form",
    arguments: [
      ("http://app", "http://app"), ("HTTP://App.Example:80/", "http://app.example"),
      ("https://a:444/b/", "https://a:444/b"),
      ("http://[::1]:9000", "http://[::1]:9000"), ("http://a/b/c", "http://a/b/c"),
      ("http://my_app:1", "http://my_app:1"),
      ("http://unix:/run/app.sock", "http://unix:/run/app.sock"), ("http://10.0.0.1", "http://10.0.0.1"),
    ])
  func reads(_ text: String, _ expected: String) { #expect(OriginURL(text)?.description == expected) }

  @Test(
    "are refused when they say more, or less, than where",
    arguments: [
      "", "app", "ftp://a", "http://", "http:///x", "http://u:p@a", "http://a?x", "http://a#x", "http://a:0",
      "http://a:65536",
      "http://a:", "http://[::1", "http://[1.2.3.4]", "http://a b", "http://-a", "http://a..b", "http://1.2.3",
      "http://unix:x",
      "https://unix:/x", "http://[::1]x",
    ])
  func refuses(_ text: String) { #expect(OriginURL(text) == nil) }

  @Test("have a port and a base path")
  func parts() throws {
    let url = try #require(OriginURL("https://a/base//"))
    #expect((url.isTLS, url.host, url.port, url.basePath) == (true, "a", 443, "/base"))
    #expect(OriginURL("http://unix:/run/x")?.socketPath == "/run/x")
  }
}
