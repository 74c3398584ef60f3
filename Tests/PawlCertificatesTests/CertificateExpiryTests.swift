import PawlTLS
import Testing

@testable import PawlCertificates

@Suite("Certificates that expire") struct CertificateExpiryTests {
  private let day: Int64 = 86_400

  private func certificate(_ file: String, until notAfter: Int64) -> CertificateFacts {
    CertificateFacts(
      section: "a", file: file, names: ["a.example"], keyKind: "ECDSA P-256", notBefore: 0, notAfter: notAfter,
      isStapled: false)
  }

  @Test("are warned of from fourteen days before to long after, with what is left")
  func days() {
    let now: Int64 = 1_700_000_000
    let rows: [(left: Int64, days: Int64?)] = [
      (14 * day, nil), (14 * day - 1, 13), (day, 1), (day - 1, 0), (0, 0), (-1, -1), (-day, -1), (-3 * day, -3),
    ]
    for row in rows {
      var expiry = CertificateExpiry()
      let warnings = expiry.warnings(of: [certificate("f", until: now + row.left)], at: now)
      #expect(warnings.map(\.days) == (row.days.map { [$0] } ?? []), "\(row.left) s")
      #expect(warnings.allSatisfy { $0.isExpired == (row.left < 0) })
    }
  }

  @Test("are warned of once a day each, and a new one for itself")
  func daily() {
    var expiry = CertificateExpiry()
    let now: Int64 = 1_700_000_000
    let (one, other) = (certificate("one", until: now + 5 * day), certificate("other", until: now + 90 * day))
    let r1 = expiry.warnings(of: [one, other], at: now)
    #expect(r1.map(\.certificate) == [one])
    let r2 = expiry.warnings(of: [one, other], at: now + day - 1)
    #expect(r2.isEmpty)
    let r3 = expiry.warnings(of: [one, other], at: now + day)
    #expect(r3.map(\.days) == [4])
    let renewed = certificate("one", until: now + 6 * day)
    let r4 = expiry.warnings(of: [renewed, other], at: now + day + 1)
    #expect(r4.map(\.certificate) == [renewed])
    let r5 = expiry.warnings(of: [other], at: now + 80 * day)
    #expect(r5.map(\.certificate) == [other])
  }
}
