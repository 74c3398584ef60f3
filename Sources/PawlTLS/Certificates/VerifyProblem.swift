import COpenSSL

/// Describes why a certificate was not accepted: whose it is, and what was expected.
enum VerifyProblem {
  /// Describes the error of the current certificate in a verify callback of OpenSSL.
  static func describe(_ store: OpaquePointer, expected: String) -> String {
    let code = Int(X509_STORE_CTX_get_error(store))
    let leaf = X509_STORE_CTX_get0_cert(store).flatMap { hold($0) }
    let isLeaf = X509_STORE_CTX_get_error_depth(store) == 0
    guard let culprit = X509_STORE_CTX_get_current_cert(store).flatMap({ hold($0) }) ?? leaf else {
      return String(cString: X509_verify_cert_error_string(code))
    }
    let words = describe(code, culprit, expected: expected)
    return isLeaf || words.contains(culprit.subject) ? words : "\(words) (\(culprit.subject))"
  }

  private static func hold(_ raw: OpaquePointer) -> Certificate? {
    X509_up_ref(raw) == 1 ? Certificate(adopting: raw) : nil
  }

  private static func describe(_ code: Int, _ peer: Certificate, expected: String) -> String {
    let words = String(cString: X509_verify_cert_error_string(code))
    switch CInt(truncatingIfNeeded: code) {
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      let names = peer.allNames.joined(separator: ", ")
      return "certificate is for \(names.isEmpty ? peer.subject : names), not \(expected)"
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "certificate has expired (\(day(peer.notAfter)))"
    case X509_V_ERR_CERT_NOT_YET_VALID: return "certificate is not yet valid (from \(day(peer.notBefore)))"
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return "self-signed certificate (\(peer.subject))"
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
      return "unable to get local issuer certificate (issuer \(peer.issuer))"
    default: return "\(words) (\(peer.subject))"
    }
  }

  /// A date such as `2026-11-21`, from seconds since 1970.
  static func day(_ seconds: Int64) -> String {
    var days = seconds / 86_400
    if seconds % 86_400 < 0 { days -= 1 }
    // Converts days to a date, with years that begin in March (H. Hinnant, chrono-compatible low-level date algorithms).
    days += 719_468
    let era = (days >= 0 ? days : days - 146_096) / 146_097
    let dayOfEra = days - era * 146_097
    let year = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let date = (year + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    return "\(date.0)-\(date.1 < 10 ? "0" : "")\(date.1)-\(date.2 < 10 ? "0" : "")\(date.2)"
  }
}
