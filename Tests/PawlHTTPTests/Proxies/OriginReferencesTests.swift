import Testing

@testable import PawlHTTP

@Suite("References that name the origin (RFC 9110 §10.2.2)") struct OriginReferencesTests {
  static let clear = OriginAddress(host: Bytes("127.0.0.1"), port: 9000, isSecure: false, base: Bytes(""))

  @Test(
    "become paths where they lead past pawl, and stay where they do not",
    arguments: [
      ("http://127.0.0.1:9000/a/b?c#d", "/a/b?c#d"), ("HTTP://127.0.0.1:9000/", "/"), ("http://127.0.0.1:9000", "/"),
      ("http://127.0.0.1:9000?q", "/?q"), ("http://127.0.0.1:9000#f", "/#f"),
      ("http://files.example:9000/sub/", "/sub/"), ("http://FILES.example:9000/sub/", "/sub/"),
      // Of a path with two slashes nobody makes a host.
      ("http://127.0.0.1:9000//evil.example/", "/.//evil.example/"),
      ("http://127.0.0.1:9000/\\evil.example/", "/./\\evil.example/"),
      ("http://127.0.0.1:9000/\t/evil.example/", nil), ("http://127.0.0.1:9000/\u{e9}", nil),
      // Right as they are.
      ("http://files.example:8080/sub/", nil), ("/sub/", nil), ("sub/", nil), ("", nil), ("//127.0.0.1:9000/", nil),
      // Elsewhere.
      ("https://127.0.0.1:9000/", nil), ("http://127.0.0.1/", nil), ("http://127.0.0.1:9001/", nil),
      ("http://other.example:9000/", nil), ("http://user@127.0.0.1:9000/", nil),
      ("http://127.0.0.1:9000.evil.example/", nil),
      ("http://127.0.0.1:9000@evil.example/", nil), ("http:///", nil), ("http://", nil), ("ftp://127.0.0.1:9000/", nil),
    ] as [(String, String?)])
  func path(_ reference: String, _ expected: String?) {
    let found = OriginReferences.path(Bytes(reference), on: Self.clear, asked: Bytes("files.example:8080"))
    #expect(found == expected.map { Bytes($0) })
  }

  @Test(
    "below a base, without it; what lies beside the base stays",
    arguments: [
      ("https://app.internal/base/x", "/x"), ("https://app.internal:443/base", "/"),
      ("https://app.internal/base?q", "/?q"),
      ("https://app.internal/base//x", "/.//x"), ("https://app.internal/basement", nil), ("https://app.internal/", nil),
      ("https://[2001:db8::1]/base/x", nil), ("http://app.internal/base/x", nil),
    ] as [(String, String?)])
  func base(_ reference: String, _ expected: String?) {
    let origin = OriginAddress(host: Bytes("app.internal"), port: 443, isSecure: true, base: Bytes("/base"))
    #expect(
      OriginReferences.path(Bytes(reference), on: origin, asked: Bytes("example.com:8443"))
        == expected.map { Bytes($0) })
  }

  @Test("an IPv6 address has brackets in a reference alone") func brackets() {
    let origin = OriginAddress(host: Bytes("2001:db8::1"), port: 9000, isSecure: false, base: Bytes(""))
    #expect(
      OriginReferences.path(Bytes("http://[2001:DB8::1]:9000/x"), on: origin, asked: Bytes("example.com"))
        == Bytes("/x"))
  }

  @Test("what names exactly what was asked stays, for clients on the origin's own name and port") func asked() {
    let origin = OriginAddress(host: Bytes("127.0.0.1"), port: 80, isSecure: false, base: Bytes(""))
    #expect(OriginReferences.path(Bytes("http://example.com/x"), on: origin, asked: Bytes("example.com")) == nil)
  }

  @Test("of a head, Location and Content-Location; of several, which is wrong anyway, none") func head() {
    var head = fields(
      ("Location", "http://127.0.0.1:9000/a"), ("Content-Location", "http://h:9000/b"),
      ("Link", "<http://127.0.0.1:9000/c>"))
    OriginReferences.unbind(&head, from: Self.clear, asked: Bytes("h"))
    #expect(head.first(.location) == Bytes("/a"))
    #expect(head.first(.contentLocation) == Bytes("/b"))
    var twice = fields(("Location", "http://127.0.0.1:9000/a"), ("Location", "http://127.0.0.1:9000/b"))
    let before = twice
    OriginReferences.unbind(&twice, from: Self.clear, asked: Bytes("h"))
    #expect(twice == before)
  }
}
