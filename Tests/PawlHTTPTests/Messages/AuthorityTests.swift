import PawlHTTP
import Testing

@Suite("Host and port (RFC 9110 §7.2)") struct AuthorityTests {
  @Test(
    "a valid Host is lower-cased and otherwise kept",
    arguments: [
      ("example.org", "example.org"), ("Example.ORG:8080", "example.org:8080"), ("a:80", "a:80"), ("a:", "a"),
      ("a:0", "a:0"),
      ("a:65535", "a:65535"), ("127.0.0.1:1", "127.0.0.1:1"), ("[::1]", "[::1]"),
      ("[2001:DB8::1]:443", "[2001:db8::1]:443"),
      ("[::ffff:192.0.2.1]", "[::ffff:192.0.2.1]"), ("[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]"), ("[::]", "[::]"),
      ("[1::]", "[1::]"), ("a_b-c.d", "a_b-c.d"), ("xn--bcher-kva.example.", "xn--bcher-kva.example."),
    ])
  func valid(_ text: String, _ expected: String) {
    #expect(Authority.parseHost(Bytes(within: text))?.text == expected)
  }

  @Test(
    "anything else is refused (Hygiene, \"Host\")",
    arguments: [
      "", " ", "a b", "a\0.b", "a,b", "a, b", "user@a", "user:pw@a", ":80", ":", "a/", "a/path", "/", "a?", "a#b",
      "a\\b",
      "a:b", "a:80b", "a:+80", "a:-1", "a:65536", "a:100000", "a:80:80", "a::80", "http://a", "*", "b\u{fc}cher",
      "a%41",
      "a\tb", "a\r\nb", "a;b", "a\"", "<a>", ".", "..", "[", "]", "[]", "[::1", "::1", "[::1]x", "[::1]80", "[a]",
      "[1]",
      "[:1]", "[1:]", "[::1::]", "[:::]", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[12345::]", "[g::]", "[::1.2.3]",
      "[::1.2.3.256]", "[1.2.3.4]", "[::1.2.3.4:5]", "[fe80::1%25eth0]", "[v1.x]", "[::1]:99999",
    ])
  func invalid(_ text: String) { #expect(Authority.parseHost(Bytes(within: text)) == nil) }

  @Test("a host of 255 bytes is the longest") func length() {
    #expect(Authority.parseHost(Bytes(String(repeating: "a", count: 255))) != nil)
    #expect(Authority.parseHost(Bytes(String(repeating: "a", count: 256))) == nil)
  }

  @Test(
    "host and port come apart",
    arguments: [
      ("a", "a", nil), ("a:80", "a", 80), ("[::1]", "[::1]", nil), ("[::1]:443", "[::1]", 443), ("a:", "a", nil),
      ("", "", nil),
    ] as [(String, String, UInt16?)])
  func parts(_ authority: String, _ host: String, _ port: UInt16?) {
    #expect(Authority.hostOnly(Bytes(within: authority)).text == host)
    #expect(Authority.port(of: Bytes(within: authority)) == port)
  }
}
