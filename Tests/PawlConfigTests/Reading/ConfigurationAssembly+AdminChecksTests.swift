import PawlConfig
import Testing

@Suite("The admin section") struct ConfigurationAssemblyAdminChecksTests {
  static let file = "/etc/pawl/pawl.ini"

  @Test(
    "says who would let anyone in, and what has no effect",
    arguments: [
      (
        "listen = 127.0.0.1:9180",
        [
          "\(file):6: [admin] listen: 127.0.0.1:9180 needs token, or tls with client-certificate = required: else anyone could stop pawl"
        ]
      ),
      ("listen = 127.0.0.1:9180\ntoken = 0123456789abcdef", []),
      (
        "listen = 192.0.2.1:9180\ntoken = 0123456789abcdef",
        [
          "\(file):6: [admin] listen: the token crosses the network to 192.0.2.1:9180 in clear: tls encrypts it (warning)"
        ]
      ),
      (
        "token = 0123456789abcde",
        [
          "\(file):6: [admin] token: expected none or at least 16 letters, digits or any of -._~+/=, found 15 characters"
        ]
      ),
      (
        "token = 0123456789abcdef!",
        [
          "\(file):6: [admin] token: expected none or at least 16 letters, digits or any of -._~+/=, found another character"
        ]
      ),
      ("tls = web", ["\(file):6: [admin] tls: there is no [tls:web]"]),
      (
        "listen = 127.0.0.1:9180\ntoken = 0123456789abcdef\nmode = 0660",
        ["\(file):8: [admin] mode: has no effect without a unix socket in listen (warning)"]
      ),
      (
        "tls = web\n[tls:web]\ncertificate = c.pem\nkey = k.pem",
        ["\(file):6: [admin] tls: has no effect without a TCP address in listen (warning)"]
      ),
      (
        "listen = 192.0.2.1:9180\ntls = web\n[tls:web]\ncertificate = c.pem\nkey = k.pem\nclient-ca = a.pem\nclient-certificate = required",
        []
      ),
      ("mode = 1777", ["\(file):6: [admin] mode: expected permissions such as 0600 or 0660, found \"1777\""]),
      ("listen = off", []),
    ])
  func checks(_ lines: String, _ expected: [String]) {
    #expect(mistakes(in: smallest + "[admin]\n" + lines) == expected)
  }

  @Test("never shows its token")
  func secret() throws {
    let configuration = try load(smallest + "[admin]\ntoken = 0123456789abcdef")
    #expect(configuration.admin.token == Secret("0123456789abcdef"))
    let text = ConfigurationReport.effective(configuration)
    #expect(text.contains("token = (secret)") && !text.contains("0123456789abcdef"))
    #expect(!"\(configuration.admin)".contains("0123456789abcdef"))
  }
}
