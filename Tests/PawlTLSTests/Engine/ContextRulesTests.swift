import COpenSSL
import PawlTestKit
import Testing

@testable import PawlTLS

@Suite("Rules of every connection over TLS") struct ContextRulesTests {
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
