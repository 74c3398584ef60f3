import Testing

@testable import PawlConfig

@Suite("Addresses to listen on") struct ListenAddressTests {
  @Test(
    "are literal",
    arguments: [
      ("127.0.0.1:8080", ListenAddress.internet(host: "127.0.0.1", port: 8080)),
      ("[::]:443", .internet(host: "::", port: 443)),
      ("0.0.0.0:0", .internet(host: "0.0.0.0", port: 0)), ("unix:/run/p.sock", .unix(path: "/run/p.sock")),
      ("systemd:web.socket", .inherited(name: "web.socket")), ("systemd:0", .inherited(name: "0")), ("systemd:", nil),
      ("systemd:a:b", nil), ("systemd:a b", nil), ("systemd:" + String(repeating: "n", count: 256), nil),
      ("unix:p.sock", .unix(path: "/etc/pawl/p.sock")), ("127.0.0.1:65536", nil), ("127.0.0.1", nil),
      ("[127.0.0.1]:1", nil),
      ("::1:80", nil), ("localhost:80", nil), ("unix:", nil), ("127.0.0.1:", nil), ("127.0.0.1:+1", nil), ("", nil),
    ] as [(String, ListenAddress?)])
  func reads(_ text: String, _ expected: ListenAddress?) {
    #expect(ListenAddress(text, directory: "/etc/pawl") == expected)
  }

  @Test("are written as they are read", arguments: ["127.0.0.1:8080", "[::1]:443", "unix:/run/p.sock", "systemd:web"])
  func description(_ text: String) { #expect(ListenAddress(text, directory: "")?.description == text) }

  @Test(
    "exclude each other where one is all addresses",
    arguments: [
      ("0.0.0.0:80", "127.0.0.1:80", true), ("127.0.0.1:80", "0.0.0.0:80", true), ("[::]:80", "[::1]:80", true),
      ("[::1]:80", "[0::1]:80", true), ("0.0.0.0:80", "127.0.0.1:81", false), ("0.0.0.0:0", "127.0.0.1:0", false),
      ("[::]:80", "127.0.0.1:80", false), ("[::]:80", "0.0.0.0:80", false), ("127.0.0.1:80", "127.0.0.2:80", false),
      ("unix:/a", "0.0.0.0:80", false), ("systemd:a", "0.0.0.0:80", false),
    ])
  func overlaps(_ one: String, _ other: String, _ expected: Bool) throws {
    let (one, other) = (ListenAddress(one, directory: "/"), ListenAddress(other, directory: "/"))
    #expect(try #require(one).overlaps(#require(other)) == expected)
  }

  @Test(
    "are guessed from what people write",
    arguments: [
      ("8080", "127.0.0.1:8080"), (":8080", "0.0.0.0:8080"), ("*:80", "0.0.0.0:80"), ("localhost:80", "127.0.0.1:80"),
      ("127.0.0.1", "127.0.0.1:8080"), ("::", "[::]:8080"), ("example.com:80", nil), ("99999", nil),
    ])
  func repaired(_ text: String, _ expected: String?) { #expect(ListenAddress.repaired(text) == expected) }
}
