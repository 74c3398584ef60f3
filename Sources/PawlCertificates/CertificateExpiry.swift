import PawlTLS

/// Decides which certificates the log warns of: those that expire soon or have expired, each of them once a day.
struct CertificateExpiry: Sendable {
  /// Certificates that expire within this time are warned of; in seconds.
  static let notice: Int64 = 14 * 86_400
  static let interval: Int64 = 86_400

  struct Warning: Hashable, Sendable {
    var certificate: CertificateFacts
    /// The full days until the certificate expires; negative if the certificate has expired.
    var days: Int64
    var isExpired: Bool { days < 0 }
  }

  private var said: [CertificateFacts: Int64] = [:]

  /// - Parameter now: seconds since 1970.
  mutating func warnings(of certificates: [CertificateFacts], at now: Int64) -> [Warning] {
    said = said.filter { now - $0.value < Self.interval }
    return certificates.compactMap { certificate in
      let left = certificate.notAfter - now
      guard left < Self.notice, said[certificate] == nil else { return nil }
      said[certificate] = now
      return Warning(certificate: certificate, days: left < 0 ? min(-1, left / 86_400) : left / 86_400)
    }
  }
}
