import PawlTestKit
import Testing

@testable import PawlTLS

@Suite("What certificates say") struct CertificateReadingTests {
  private func read(_ certificate: TestCertificate) throws -> Certificate {
    try #require(PEMFile(certificate.certificate).certificates().first)
  }

  @Test("names, lower case; addresses are none that a client may ask for by SNI")
  func names() throws {
    let made = Made.certificates.make(names: ["A.Example", "*.a.example", "192.0.2.1", "2001:db8::1"])
    let certificate = try read(made)
    #expect(certificate.allNames == ["a.example", "*.a.example", "192.0.2.1", "2001:db8::1"])
    #expect(certificate.dnsNames == ["a.example", "*.a.example"])
    #expect(certificate.isSelfIssued)
  }

  @Test("the common name counts where there is no other")
  func commonName() throws {
    let certificate = try read(Made.root)
    #expect(certificate.dnsNames == ["test root"])
    #expect(certificate.subject == "CN=Test Root")
  }

  @Test(
    "kinds of key",
    arguments: [(.ecdsa, "ECDSA P-256"), (.p384, "ECDSA P-384"), (.rsa, "RSA 2048"), (.ed25519, "Ed25519")]
      as [(TestCertificates.Kind, String)])
  func kinds(_ kind: TestCertificates.Kind, _ words: String) throws {
    #expect(try read(Made.certificates.make(names: ["k.example"], kind: kind)).keyKind == words)
  }

  @Test("who issued it, and from when to when it holds")
  func issuers() throws {
    let (leaf, middle, root) = try (read(Made.b), read(Made.middle), read(Made.root))
    #expect(leaf.wasIssued(by: middle) && !leaf.wasIssued(by: root))
    #expect(leaf.issuer == "CN=Test Middle" && !leaf.isSelfIssued)
    #expect(leaf.notAfter - leaf.notBefore == 30 * 86_400 + 3600)
  }

  @Test(
    "days",
    arguments: [(0, "1970-01-01"), (951_782_400, "2000-02-29"), (4_107_542_399, "2100-02-28"), (-1, "1969-12-31")])
  func days(_ seconds: Int, _ text: String) { #expect(VerifyProblem.day(Int64(seconds)) == text) }
}
