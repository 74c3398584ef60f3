import COpenSSL

/// An OCSP response (RFC 6960) that is sent with its certificate.
struct OCSPStaple: Hashable, Sendable {
  let response: [UInt8]
  /// The time from which the response is not sent any more, in seconds since 1970; `Int64.max` if the response has no
  /// `nextUpdate`.
  let until: Int64

  /// How an OCSP response relates to one certificate.
  enum Match: Hashable {
    case fits(OCSPStaple)
    /// The response is about this certificate, but cannot be used; with the reason.
    case unfit(String)
    case another
  }

  /// Finds out whether the response in a file is for a certificate.
  /// - Parameters:
  ///   - leaf: the certificate.
  ///   - issuer: its issuer, where the chain has it.
  ///   - now: seconds since 1970.
  /// - Throws: ``TLSProblem`` when the file is no OCSP response.
  static func match(
    _ file: PEMFile, _ leaf: Certificate, issuer: Certificate?, now: Int64
  ) throws(TLSProblem) -> Match {
    let response = try parse(file)
    defer { OCSP_RESPONSE_free(response) }
    let status = OCSP_response_status(response)
    guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
      let words = String(cString: OCSP_response_status_str(Int(status)))
      throw TLSProblem("the responder answered only: \(words)", file: file.path)
    }
    guard let basic = OCSP_response_get1_basic(response) else {
      throw TLSProblem("is no basic OCSP response: \(OpenSSLError.take().reason)", file: file.path)
    }
    defer { OCSP_BASICRESP_free(basic) }
    for index in 0..<OCSP_resp_count(basic) {
      guard let single = OCSP_resp_get0(basic, index), isAbout(single, leaf, issuer) else { continue }
      return judge(single, file.bytes, now)
    }
    return .another
  }

  private static func parse(_ file: PEMFile) throws(TLSProblem) -> OpaquePointer {
    ERR_clear_error()
    let response = file.bytes.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_OCSP_RESPONSE(nil, &start, bytes.count)
    }
    guard let response else {
      throw TLSProblem("is no OCSP response in DER: \(OpenSSLError.take().reason)", file: file.path)
    }
    return response
  }

  private static func isAbout(_ single: OpaquePointer, _ leaf: Certificate, _ issuer: Certificate?) -> Bool {
    var (name, key): (UnsafeMutablePointer<ASN1_STRING>?, UnsafeMutablePointer<ASN1_STRING>?) = (nil, nil)
    var algorithm: OpaquePointer?
    var serial: UnsafeMutablePointer<ASN1_INTEGER>?
    guard pawl_ocsp_id(single, &name, &algorithm, &key, &serial) == 1, let name, let key, let algorithm, let serial,
      ASN1_INTEGER_cmp(serial, X509_get0_serialNumber(leaf.raw)) == 0,
      let digest = EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(algorithm)))
    else { return false }
    guard hash({ X509_NAME_digest(X509_get_issuer_name(leaf.raw), digest, $0, $1) }) == asn1Bytes(name) else {
      return false
    }
    guard let issuer else { return true }
    return hash({ X509_pubkey_digest(issuer.raw, digest, $0, $1) }) == asn1Bytes(key)
  }

  private static func hash(_ digest: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt32>) -> CInt) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard
      bytes.withUnsafeMutableBufferPointer({ buffer in
        buffer.baseAddress.map { digest($0, &count) } ?? 0
      }) == 1
    else { return [] }
    return Array(bytes[..<Int(count)])
  }

  private static func judge(_ single: OpaquePointer, _ response: [UInt8], _ now: Int64) -> Match {
    var reason: CInt = 0
    var (revoked, this, next): (Time?, Time?, Time?) = (nil, nil, nil)
    let status = OCSP_single_get0_status(single, &reason, &revoked, &this, &next)
    guard status == V_OCSP_CERTSTATUS_GOOD else {
      return .unfit("says \(String(cString: OCSP_cert_status_str(Int(status)))) about its certificate: not stapled")
    }
    let from = seconds(this)
    guard from <= now + 300 else { return .unfit("holds only from \(VerifyProblem.day(from)): not stapled") }
    let until = next.map { seconds($0) } ?? .max
    guard until > now else { return .unfit("has expired (\(VerifyProblem.day(until))): not stapled") }
    return .fits(OCSPStaple(response: response, until: until))
  }

  private typealias Time = UnsafeMutablePointer<ASN1_GENERALIZEDTIME>
}
