import PawlHTTP
import Testing

@Suite("Forwarded fields") struct ForwardedTests {
  private func applied(
    _ sent: Fields, client: String = "192.0.2.1", scheme: StaticString = "http", host: String = "example.org:8080",
    trusted: Bool = false
  ) -> Fields {
    var message = sent
    applyForwarded(
      to: &message, client: Bytes(client), scheme: scheme, host: Bytes(host), port: 8080, peerIsTrusted: trusted)
    return message
  }

  @Test("tell the origin who asked, how and where") func plain() {
    #expect(
      applied(fields(("Accept", "*/*")))
        == fields(
          ("Accept", "*/*"), ("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Proto", "http"),
          ("X-Forwarded-Host", "example.org:8080"), ("X-Forwarded-Port", "8080"), ("X-Real-IP", "192.0.2.1")))
  }

  @Test("a stranger's claims are replaced (Hygiene, \"proxy fields\")") func stranger() {
    let sent = fields(
      ("X-Forwarded-For", "10.0.0.1"), ("x-forwarded-for", "10.0.0.2"), ("X-Forwarded-Proto", "https"),
      ("X-Forwarded-Host", "evil"), ("X-Forwarded-Port", "443"), ("X-Real-IP", "10.0.0.3"),
      ("Forwarded", "for=10.0.0.4"),
      ("X-Forwarded-User", "root"), ("X_Forwarded_For", "10.0.0.5"), ("x_real-ip", "10.0.0.6"), ("X-Forward", "kept"),
      ("X-Real-IPs", "kept"))
    var expected = fields(("X-Forward", "kept"), ("X-Real-IPs", "kept"))
    for line in applied(fields()).lines {
      let fresh = applied(fields())
      expected.append(named: fresh.name(line), fresh.value(line))
    }
    #expect(applied(sent) == expected)
  }

  @Test("a trusted peer's are kept and continued") func trusted() {
    let sent = fields(
      ("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-For", "10.0.0.2"), ("X-Forwarded-Proto", "https"),
      ("X-Forwarded-Host", "shop.example"), ("X-Forwarded-Port", "443"), ("X-Real-IP", "203.0.113.9"))
    let message = applied(sent, trusted: true)
    #expect(message.all(.xForwardedFor).map(\.text) == ["203.0.113.9, 10.0.0.2, 192.0.2.1"])
    #expect(message.all(.xForwardedProto).map(\.text) == ["https"])
    #expect(message.all(.xForwardedHost).map(\.text) == ["shop.example"])
    #expect(message.all(.xForwardedPort).map(\.text) == ["443"])
    #expect(message.all(.xRealIP).map(\.text) == ["203.0.113.9"])
    #expect(!message.contains(.forwarded))
  }

  @Test("a trusted peer's gaps are filled") func gaps() {
    #expect(applied(fields(), trusted: true) == applied(fields()))
  }

  @Test(
    "a trusted peer's Forwarded is continued (RFC 7239)",
    arguments: [
      ("192.0.2.1", "a:1", "for=192.0.2.1;proto=https;host=\"a:1\""),
      ("2001:db8::1", "", "for=\"[2001:db8::1]\";proto=https"),
      ("", "a", "for=unknown;proto=https;host=\"a\""),
    ])
  func forwarded(_ client: String, _ host: String, _ element: String) {
    let message = applied(fields(("Forwarded", "for=x")), client: client, scheme: "https", host: host, trusted: true)
    #expect(message.all(.forwarded).map(\.text) == ["for=x", element])
  }

  @Test("no host, no X-Forwarded-Host") func noHost() {
    #expect(!applied(fields(), host: "").contains(.xForwardedHost))
  }
}
