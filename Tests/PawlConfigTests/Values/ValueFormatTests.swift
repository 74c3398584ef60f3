import Testing

@testable import PawlConfig

@Suite("Values of keys") struct ValueFormatTests {
  @Test(
    "are refused with what was expected",
    arguments: [
      (
        "resume-private", "0s",
        "expected off or a time with its unit such as 500ms, 30s, 15m, 24h or 7d, not zero, found \"0s\""
      ),
      (
        "resume-private", "of",
        "expected off or a time with its unit such as 500ms, 30s, 15m, 24h or 7d, not zero, found \"of\" - did you mean \"off\"?"
      ),
      ("default-ttl", "", "expected a time with its unit such as 500ms, 30s, 15m, 24h or 7d, found nothing"),
      ("max-object", "1.5G", "expected 0 or a size such as 64K, 10M or 5G, found \"1.5G\""),
      ("max-ranges", "0", "expected a whole number from 1 to 1000, found \"0\""),
      ("min-rate", "1K", "expected a rate such as 1K/60s, found \"1K\""),
      ("origin-encoding", "pas", "expected identity or pass, found \"pas\" - did you mean \"pass\"?"),
      ("delivery", "once", "expected at-most-once or at-least-once, found \"once\""),
      ("uploads", "onn", "expected on or off, found \"onn\" - did you mean \"on\"?"),
      ("host", "*.example.com", "expected a host name without scheme, port or wildcard, found \"*.example.com\""),
      (
        "host", "a.example:80",
        "expected a host name without scheme, port or wildcard, found \"a.example:80\" - did you mean \"a.example\"?"
      ),
      (
        "host", "https://a.example/",
        "expected a host name without scheme, port or wildcard, found \"https://a.example/\" - did you mean \"a.example\"?"
      ),
      ("upload-prefix", "up", "expected a path that begins and ends with /, found \"up\" - did you mean \"/up/\"?"),
      ("auth-request", "api", "expected none or a path that begins with /, found \"api\" - did you mean \"/api\"?"),
      (
        "cors", "https://a/x",
        "expected off, * or an origin such as https://app.example.com, found \"https://a/x\" - did you mean \"https://a\"?"
      ),
      ("cors", "app", "expected off, * or an origin such as https://app.example.com, found \"app\""),
    ])
  func refused(_ key: String, _ value: String, _ message: String) { #expect(refusal(key, value) == message) }

  @Test(
    "are accepted at their limits and in either case",
    arguments: [
      ("max-ranges", "1000"), ("etag", "ORIGIN"), ("uploads", "Off"), ("host", ""), ("cors", ""), ("cors", "null"),
      ("owner", "none"), ("max-object", "1"), ("auth-request", "off"), ("max-unknown", "0"), ("host", "any"),
    ])
  func accepted(_ key: String, _ value: String) { #expect(refusal(key, value) == nil) }

  @Test("lists add up, and an empty value empties them")
  func lists() throws {
    let configuration = try load(
      smallest
        + "[pawl]\ntrusted-proxies = 10.0.0.0/8, ::1\ntrusted_proxies =\ntrusted-proxies = 127.0.0.1\ntrusted-proxies = 192.168.0.0/16"
    )
    #expect(configuration.process.trustedProxies.map(\.description) == ["127.0.0.1", "192.168.0.0/16"])
    let origins = configuration.effective.first?.values.filter { $0.key == "trusted-proxies" }.map(\.origin.description)
    #expect(origins == ["/etc/pawl/pawl.ini:8", "/etc/pawl/pawl.ini:9"])
  }

  @Test(
    "of other sections are refused with what was expected",
    arguments: [
      (
        "[listen:a]\naddress = unix:/" + String(repeating: "s", count: 107),
        "[listen:a] address: expected a socket path of at most 107 bytes, found 108: /"
          + String(repeating: "s", count: 107)
      ),
      (
        "[pawl]\ntrusted-proxies = lb.example",
        "[pawl] trusted-proxies: expected an address, a range such as 10.0.0.0/8 or fd00::/8, or unix:, found \"lb.example\""
      ),
      (
        "[pawl]\ntrusted-proxies = unix",
        "[pawl] trusted-proxies: expected an address, a range such as 10.0.0.0/8 or fd00::/8, or unix:, found \"unix\" - did you mean \"unix:\"?"
      ),
      (
        "[listen:a]\nunix-mode = 0888",
        "[listen:a] unix-mode: expected umask or permissions such as 0600 or 0660, found \"0888\""
      ),
      (
        "[pawl]\nuser = a:b", "[pawl] user: expected none or the name of a user or a group, found \"a:b\""
      ),
      (
        "[listen:a]\nmax-streams = 0",
        "[listen:a] max-streams: expected a whole number from 1 to 10000, found \"0\""
      ),
      (
        "[listen:a]\nmax-window = 512K",
        "[listen:a] max-window: expected a size such as 64K, 10M or 5G from 1M to 1G, found \"512K\""
      ),
      (
        "[spool:default]\nmax-share-per-client = 25",
        "[spool:default] max-share-per-client: expected a share such as 25%, found \"25\" - did you mean \"25%\"?"
      ),
      (
        "[listen:a]\nmax-header = 2M",
        "[listen:a] max-header: expected a size such as 64K, 10M or 5G from 1K to 1M, found \"2M\""
      ),
    ])
  func refusedElsewhere(_ text: String, _ message: String) {
    #expect(mistakes(in: smallest + text) == ["/etc/pawl/pawl.ini:6: \(message)"])
  }
}
