import COpenSSL
import PawlTestKit
import Testing

@testable import PawlTLS

@Suite("Certificates with their keys") struct CertificatePairTests {
  private func warnings(_ parts: [TestCertificate]) throws -> [String] {
    // Each part without its own chain.
    let text = parts.map { part in
      part.certificatePEM.components(upTo: "-----END CERTIFICATE-----\n")
    }.joined()
    let file = Made.certificates.write(text, "chain-\(parts.map { $0.der.count }).pem")
    return try CertificatePair(TLSKeyPair(certificate: file, key: parts[0].key)).warnings.map(\.reason)
  }

  @Test("chains that some clients cannot follow are warned of, complete ones are not")
  func chains() throws {
    #expect(try warnings([Made.b, Made.middle]) == [])
    #expect(try warnings([Made.b, Made.middle, Made.root]) == [])
    #expect(try warnings([Made.alone]) == [])
    #expect(try warnings([Made.b]) == [] && warnings([Made.ecdsa]) == [])
    #expect(
      try warnings([Made.certificates.make(names: ["c.example"], issuer: Made.middle, saysWhereIssuerIs: true)]) == [
        "holds no certificate of its issuer (CN=Test Middle): clients that do not have it cannot verify"
      ])
    #expect(
      try warnings([Made.b, Made.root, Made.middle]) == [
        "the chain is out of order: CN=Test Root stands where the issuer of CN=b.example should"
      ])
    #expect(
      try warnings([Made.b, Made.root]) == ["holds no certificate of the issuer of CN=b.example (CN=Test Middle)"])
  }
}
