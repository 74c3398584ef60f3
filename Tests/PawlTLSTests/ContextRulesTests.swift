import COpenSSL
import PawlTestKit
import Testing

@testable import PawlTLS

@Suite("Certificates with their keys") struct ContextRulesTests {
  private func warnings(_ parts: [TestCertificate]) throws -> [String] {
    // Each part without its own chain.
    let text = parts.map { part in
      part.certificatePEM.components(upTo: "-----END CERTIFICATE-----\n")
    }.joined()
    let file = Made.certificates.write(text, "chain-\(parts.map { $0.der.count }).pem")
    return try LoadedPair(TLSKeyPair(certificate: file, key: parts[0].key)).warnings.map(\.reason)
  }

  @Test("chains that some clients cannot follow are warned of, complete ones are not")
  func chains() throws {
    #expect(try warnings([Made.b, Made.middle]) == [])
    #expect(try warnings([Made.b, Made.middle, Made.root]) == [])
    #expect(try warnings([Made.alone]) == [])
    #expect(try warnings([Made.b]) == [] && warnings([Made.ecdsa]) == [])
    #expect(
      try warnings([Made.certificates.make(names: ["c.example"], issuer: Made.middle, saysWhereIssuerIs: true)]) == [
        "holds no certificate of its issuer (CN=Test Middle): clients that do not have it can not verify"
      ])
    #expect(
      try warnings([Made.b, Made.root, Made.middle]) == [
        "the chain is out of order: CN=Test Root stands where the issuer of CN=b.example should"
      ])
    #expect(
      try warnings([Made.b, Made.root]) == ["holds no certificate of the issuer of CN=b.example (CN=Test Middle)"])
  }

  @Test("the rules name what OpenSSL knows, and nothing old")
  func rules() throws {
    let context = try ContextRules.make(TLS_server_method(), minVersion: .v12)
    defer { SSL_CTX_free(context) }
    #expect(ContextRules.ciphers.split(separator: ":").allSatisfy { $0.hasPrefix("ECDHE-") && !$0.contains("CBC") })
    #expect(ContextRules.number(.v12) == 0x303 && ContextRules.number(.v13) == 0x304)
  }
}

extension String {
  /// Up to and with the first `end`.
  func components(upTo end: String) -> String {
    guard let range = firstRange(of: end) else { return self }
    return String(self[..<range.upperBound])
  }
}
