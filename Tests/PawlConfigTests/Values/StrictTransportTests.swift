import PawlConfig
import Testing

@Suite("Strict-Transport-Security (RFC 6797 §6.1)") struct StrictTransportTests {
  @Test(
    "is what the key says",
    arguments: [
      ("365d", "max-age=31536000"), ("0s", "max-age=0"),
      ("1h include-subdomains", "max-age=3600; includeSubDomains"),
      ("730d preload Include-Subdomains", "max-age=63072000; includeSubDomains; preload"),
    ])
  func field(_ value: String, _ expected: String) throws {
    let site = try load(smallest + "hsts = \(value)").sites.first
    #expect(site?.settings.hsts?.field == expected)
  }

  @Test("is none where the key says off")
  func off() throws { #expect(try load(smallest + "hsts = off").sites.first?.settings.hsts == nil) }

  @Test("is refused otherwise", arguments: ["31536000", "365d includeSubDomains", "preload", "1y", "500ms", "on"])
  func refused(_ value: String) {
    #expect(
      mistakes(in: smallest + "hsts = \(value)").first?.hasPrefix(
        "/etc/pawl/pawl.ini:5: [site:default] hsts: expected off or a time such as 365d") == true)
  }
}
