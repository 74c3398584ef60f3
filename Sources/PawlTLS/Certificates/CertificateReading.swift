import CLinux
import COpenSSL

/// The contents of a certificate.
extension Certificate {
  /// DNS names in lower case; the common name only where there is no other name (RFC 6125).
  var dnsNames: [String] { names.filter { !$0.isAddress }.map(\.text) }
  /// DNS names and addresses.
  var allNames: [String] { names.map(\.text) }

  private var names: [(text: String, isAddress: Bool)] {
    var found: [(String, Bool)] = []
    if let stack = X509_get_ext_d2i(raw, NID_subject_alt_name, nil, nil) {
      let names = OpaquePointer(stack)
      defer { GENERAL_NAMES_free(names) }
      for index in 0..<OPENSSL_sk_num(names) {
        guard let name = OPENSSL_sk_value(names, index) else { continue }
        var kind: CInt = 0
        guard let value = GENERAL_NAME_get0_value(name.assumingMemoryBound(to: GENERAL_NAME.self), &kind) else {
          continue
        }
        let bytes = asn1Bytes(value.assumingMemoryBound(to: ASN1_STRING.self))
        if kind == GEN_DNS { found.append((lowercased(bytes), false)) }
        if kind == GEN_IPADD, let text = addressText(bytes) { found.append((text, true)) }
      }
    }
    if found.isEmpty, let name = commonName { found.append((name, false)) }
    return found
  }

  private var commonName: String? {
    guard let subject = X509_get_subject_name(raw) else { return nil }
    let index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1)
    guard index >= 0, let entry = X509_NAME_get_entry(subject, index), let value = X509_NAME_ENTRY_get_data(entry)
    else { return nil }
    return lowercased(asn1Bytes(value))
  }

  var subject: String { nameText(X509_get_subject_name(raw)) }
  var issuer: String { nameText(X509_get_issuer_name(raw)) }
  var isSelfIssued: Bool { X509_NAME_cmp(X509_get_subject_name(raw), X509_get_issuer_name(raw)) == 0 }
  func wasIssued(by other: Certificate) -> Bool {
    X509_NAME_cmp(X509_get_subject_name(other.raw), X509_get_issuer_name(raw)) == 0
  }

  /// Whether the certificate gives a URL of its issuer's certificate (RFC 5280 §4.2.2.1). Certificates of public authorities give
  /// one, and are issued by an intermediate authority.
  var saysWhereIssuerIs: Bool {
    guard let found = X509_get_ext_d2i(raw, NID_info_access, nil, nil) else { return false }
    let entries = OpaquePointer(found)
    defer { AUTHORITY_INFO_ACCESS_free(entries) }
    return (0..<OPENSSL_sk_num(entries)).contains { index in
      guard let entry = OPENSSL_sk_value(entries, index) else { return false }
      return OBJ_obj2nid(entry.assumingMemoryBound(to: ACCESS_DESCRIPTION.self).pointee.method) == NID_ad_ca_issuers
    }
  }

  var notBefore: Int64 { seconds(X509_get0_notBefore(raw)) }
  var notAfter: Int64 { seconds(X509_get0_notAfter(raw)) }

  /// OpenSSL's number of the kind of key: an `SSL_CTX` holds one certificate of each kind.
  var keyType: CInt { X509_get0_pubkey(raw).map { EVP_PKEY_get_base_id($0) } ?? 0 }

  /// The kind of key, such as `ECDSA P-256`, `RSA 2048` or `Ed25519`.
  var keyKind: String {
    guard let key = X509_get0_pubkey(raw) else { return "unknown" }
    switch EVP_PKEY_get_base_id(key) {
    case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: return "RSA \(EVP_PKEY_get_bits(key))"
    case EVP_PKEY_EC: return "ECDSA \(curve(key))"
    case EVP_PKEY_ED25519: return "Ed25519"
    case EVP_PKEY_ED448: return "Ed448"
    case let other: return OBJ_nid2sn(other).map { String(cString: $0) } ?? "unknown"
    }
  }

  private func curve(_ key: OpaquePointer) -> String {
    var name = [CChar](repeating: 0, count: 64)
    var count = 0
    guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return "unknown" }
    let text = String(decoding: name[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return ["prime256v1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"][text] ?? text
  }
}

extension PeerCertificate {
  /// Copies a certificate of OpenSSL; `nil` when OpenSSL cannot encode it.
  init?(x509: OpaquePointer) {
    guard let der = encoded({ i2d_X509(x509, $0) }),
      let issuer = encoded({ i2d_X509_NAME(X509_get_issuer_name(x509), $0) }),
      let subject = encoded({ i2d_X509_NAME(X509_get_subject_name(x509), $0) })
    else { return nil }
    self.init(der: der, identity: issuer + subject, subject: nameText(X509_get_subject_name(x509)))
  }
}

/// Runs one of OpenSSL's `i2d` functions and copies its output; `nil` when it fails.
func encoded(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8]? {
  var pointer: UnsafeMutablePointer<UInt8>?
  let count = write(&pointer)
  guard count > 0, let pointer else { return nil }
  defer { pawl_openssl_free(pointer) }
  return Array(UnsafeBufferPointer(start: pointer, count: Int(count)))
}

/// A distinguished name as RFC 2253 writes it.
func nameText(_ name: OpaquePointer?) -> String {
  guard let name, let bio = BIO_new(BIO_s_mem()) else { return "" }
  defer { BIO_free(bio) }
  pawl_print_name(bio, name)
  var bytes: UnsafeMutablePointer<CChar>?
  let count = pawl_bio_memory(bio, &bytes)
  return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
}

func asn1Bytes(_ string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
  Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
}

/// Converts a time of OpenSSL to seconds since 1970; 0 when it cannot be read.
func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
  var parts = tm()
  guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
  return Int64(timegm(&parts))
}

private func lowercased(_ bytes: [UInt8]) -> String {
  String(decoding: bytes.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
}

private func addressText(_ bytes: [UInt8]) -> String? {
  guard bytes.count == 4 || bytes.count == 16 else { return nil }
  var text = [CChar](repeating: 0, count: 64)
  guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, 64) != nil else { return nil }
  return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
}
