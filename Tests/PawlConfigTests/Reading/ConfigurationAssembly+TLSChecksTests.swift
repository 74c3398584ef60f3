import PawlConfig
import Testing

@Suite("What a configuration may not say about TLS") struct ConfigurationTLSChecksTests {
  static let web = "[tls:web]\ncertificate = c.pem\nkey = k.pem\n"
  static let other = "[tls:other]\ncertificate = o.pem\nkey = k.pem\n"
  static let listen = "[listen:a]\ntls = web\n"

  /// What follows `smallest` begins at line 5.
  @Test(
    "each mistake has its message",
    arguments: [
      (listen, ["6: [listen:a] tls: there is no [tls:web]"]),
      ("[listen:a]\ntls = wbe\n" + web, ["6: [listen:a] tls: there is no [tls:wbe] - did you mean \"web\"?"]),
      ("[listen:a]\ntls = web, non\n" + web, ["6: [listen:a] tls: there is no [tls:non] - did you mean \"none\"?"]),
      (
        "[listen:a]\ntls = web, other\ntls = web\n" + web + other,
        ["7: [listen:a] tls: \"web\" stands already at /etc/pawl/pawl.ini:6"]
      ),
      (
        "[listen:a]\nproxy-protocol = on",
        [
          "6: [listen:a] proxy-protocol: needs [pawl] trusted-proxies: the addresses of the load balancers that send the header; all others are refused"
        ]
      ),
      (
        listen + "[tls:web]\ncertificate = a.pem\ncertificate = b.pem\nkey = a.key",
        [
          "9: [tls:web] certificate: expected a key for each certificate, in the same order; found certificate 2 times and key 1 times"
        ]
      ),
      (
        listen + "[tls:web]\ncertificate = a.pem\nkey = a.key\nkey = b.key",
        [
          "10: [tls:web] key: expected a key for each certificate, in the same order; found certificate 1 times and key 2 times"
        ]
      ),
      (
        listen + "[tls:web]\ncertificate = a.pem\ncertificate = a.pem\nkey = a.key\nkey = a.key",
        ["9: [tls:web] certificate: /etc/pawl/a.pem stands already at /etc/pawl/pawl.ini:8"]
      ),
      (
        listen + "[tls:web]\nclient-certificate = required",
        [
          "7: [tls:web] certificate: required, but missing", "7: [tls:web] key: required, but missing",
          "8: [tls:web] client-certificate: needs client-ca, which is not set",
        ]
      ),
      (
        listen + "[tls:web]\ncertificate = none\nkey = k.pem", ["8: [tls:web] certificate: required, but missing"]
      ),
      (
        listen + web + "min-version = 1.1",
        ["10: [tls:web] min-version: expected 1.2 or 1.3, found \"1.1\" - did you mean \"1.2\"?"]
      ),
      (
        listen + web + "client-certificate = optional\nclient-ca = none",
        ["10: [tls:web] client-certificate: needs client-ca, which is not set"]
      ),
    ])
  func refuses(_ text: String, _ expected: [String]) {
    #expect(mistakes(in: smallest + text) == expected.map { "/etc/pawl/pawl.ini:\($0)" })
  }

  @Test(
    "what has no effect is said, and taken",
    arguments: [
      (
        listen + web + "client-ca = ca.pem",
        ["client-ca: has no effect without client-certificate = optional or required"]
      ),
      (listen + web + "client-ca = ca.pem\nclient-certificate = optional", []),
      ("[listen:a]\ntls = none\n" + web, ["no listener uses this section"]),
      (
        "[listen:a]\nhttp2 = off\nmax-streams = 5\nmax-window = 8M",
        ["max-streams: has no effect with http2 = off", "max-window: has no effect with http2 = off"]
      ),
      ("[pawl]\ntrusted-proxies = unix:\n[listen:a]\nproxy-protocol = on", []),
      (
        "hsts = 30d",
        [
          "hsts: has no effect: no listener has tls, and no trusted-proxies could say that the client came over TLS"
        ]
      ),
      ("hsts = 30d\n" + listen + web, []),
      ("hsts = 30d\n[pawl]\ntrusted-proxies = 10.0.0.0/8", []),
      (
        "hsts = 364d include-subdomains preload\n" + listen + web,
        ["hsts: browsers' preload lists ask for at least 365d and include-subdomains"]
      ),
      ("hsts = 365d include-subdomains preload\n" + listen + web, []),
      (
        "client-certificate-field = on\n" + listen + web,
        [
          "client-certificate-field: has no effect: no listener uses a [tls:NAME] with client-certificate = optional or required"
        ]
      ),
      (
        "client-certificate-field = on\n" + listen + web + "client-ca = ca.pem\nclient-certificate = optional", []
      ),
    ])
  func doubtful(_ text: String, _ warnings: [String]) throws {
    let said = try load(smallest + text).warnings.map(\.description)
    #expect(said.count == warnings.count, "\(said)")
    for (warning, text) in zip(said, warnings) { #expect(warning.hasSuffix(text + " (warning)"), "\(warning)") }
  }

  @Test("what a route inherits from its site is told once")
  func inherited() throws {
    let said = try load(smallest + "hsts = 30d\n[route:default/a]\npath = /a*").warnings.map(\.description)
    #expect(said.count == 1)
    #expect(said.first?.hasPrefix("/etc/pawl/pawl.ini:5: [site:default] hsts: ") == true)
  }

  private static func origin(_ lines: String) -> String {
    "[upstream:app]\n\(lines)\n[site:default]\nupstream = app\n"
  }

  @Test(
    "and about origins",
    arguments: [
      ("url = https://app.example", []),
      ("url = https://app.example http://b.example http://unix:/run/app", []),
      (
        "url = https://app.example\ntls-certificate = c.pem",
        ["3: [upstream:app] tls-certificate: needs tls-key, which is not set"]
      ),
      (
        "url = https://app.example\ntls-key = k.pem",
        ["3: [upstream:app] tls-key: needs tls-certificate, which is not set"]
      ),
      ("url = https://app.example\ntls-certificate = c.pem\ntls-key = k.pem", []),
      (
        "url = http://app.example\ntls-verify = off\ntls-server-name = a.example",
        [
          "3: [upstream:app] tls-verify: has no effect: no url begins with https:// (warning)",
          "4: [upstream:app] tls-server-name: has no effect: no url begins with https:// (warning)",
        ]
      ),
      (
        "url = https://a.example\ntls-verify = off\ntls-ca = ca.pem",
        ["4: [upstream:app] tls-ca: has no effect with tls-verify = off (warning)"]
      ),
      (
        "url = https://unix:/run/app",
        ["2: [upstream:app] url: expected a URL such as http://127.0.0.1:9000, found \"https://unix:/run/app\""]
      ),
    ])
  func origins(_ lines: String, _ expected: [String]) {
    #expect(mistakes(in: Self.origin(lines)) == expected.map { "/etc/pawl/pawl.ini:\($0)" })
  }

  @Test("the keys of an https origin are read")
  func read() throws {
    let configuration = try load(
      Self.origin(
        """
        url = https://app.example
        tls-ca = ca.pem
        tls-certificate = c.pem
        tls-key = k.pem
        tls-server-name = Name.example
        tls-min-version = 1.3
        """))
    let upstream = try #require(configuration.upstreams.first)
    #expect(upstream.urls.map(\.port) == [443])
    #expect(upstream.tlsVerify)
    #expect(upstream.tlsCA == "/etc/pawl/ca.pem")
    #expect(upstream.tlsCertificate == "/etc/pawl/c.pem")
    #expect(upstream.tlsKey == "/etc/pawl/k.pem")
    #expect(upstream.tlsServerName == "name.example")
    #expect(upstream.tlsMinVersion == .v13)
  }
}
