import CLinux
import COpenSSL

/// A certificate made by a test, with its key, as text and as PEM files.
package struct TestCertificate: Sendable {
  /// The certificate, and behind it those of its issuers but the root.
  package let certificatePEM: String
  package let keyPEM: String
  /// Paths of files with these.
  package let certificate: String
  package let key: String
  /// DER.
  package let der: [UInt8]
}

/// Makes certificates in a folder that goes away with it.
package final class TestCertificates: Sendable {
  package enum Kind: Hashable, Sendable { case ecdsa, p384, rsa, ed25519 }

  package let folder: String
  private let serial = TestLock<UInt64>(1)

  package init() {
    var template = Array("/tmp/pawl-certificates-XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil, "no folder for certificates")
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    if let directory = opendir(folder) {
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name != ".", name != ".." { unlink("\(folder)/\(name)") }
      }
      closedir(directory)
    }
    rmdir(folder)
  }

  /// - Parameters:
  ///   - names: DNS names and literal addresses; the first is the common name, too.
  ///   - issuer: who signs it; itself when `nil`.
  ///   - notBefore, notAfter: seconds from now.
  package func make(
    names: [String], kind: Kind = .ecdsa, issuer: TestCertificate? = nil, isCA: Bool = false,
    notBefore: Int = -3600, notAfter: Int = 30 * 86_400, saysWhereIssuerIs: Bool = false
  ) -> TestCertificate {
    let key = Self.key(kind)
    defer { EVP_PKEY_free(key) }
    let signer = issuer.map { Self.readKey($0.keyPEM) }
    defer { EVP_PKEY_free(signer) }
    let parent = issuer.map { Self.readCertificate($0.certificatePEM) }
    defer { X509_free(parent) }
    let certificate = required(X509_new())
    defer { X509_free(certificate) }
    let number = serial.withLock { serial in
      serial += 1
      return serial
    }
    X509_set_version(certificate, 2)
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), number)
    let now = time(nil)
    ASN1_TIME_set(X509_getm_notBefore(certificate), now + notBefore)
    ASN1_TIME_set(X509_getm_notAfter(certificate), now + notAfter)
    X509_set_pubkey(certificate, key)
    let subject = required(X509_get_subject_name(certificate))
    let commonName = names.first ?? "nobody"
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC | 0x1000, commonName, -1, -1, 0)
    X509_set_issuer_name(certificate, parent.map { X509_get_subject_name($0) } ?? subject)
    addExtensions(to: certificate, parent ?? certificate, names, isCA, saysWhereIssuerIs)
    let isEdwards = EVP_PKEY_get_base_id(signer ?? key) == EVP_PKEY_ED25519
    precondition(X509_sign(certificate, signer ?? key, isEdwards ? nil : EVP_sha256()) > 0, "not signed")
    var pem = Self.text { PEM_write_bio_X509($0, certificate) }
    // A root is of no use to those who do not have it.
    if let issuer, !Self.isRoot(issuer) { pem += issuer.certificatePEM }
    let keyPEM = Self.text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    return TestCertificate(
      certificatePEM: pem, keyPEM: keyPEM, certificate: write(pem, "\(number).pem"),
      key: write(keyPEM, "\(number).key"), der: Self.der { i2d_X509(certificate, $0) })
  }

  /// A file in the folder.
  @discardableResult
  package func write(_ bytes: some Collection<UInt8>, _ name: String) -> String {
    let path = "\(folder)/\(name)"
    let file = pawl_open(path, O_CREAT | O_TRUNC | O_WRONLY, 0o600)
    defer { CLinux.close(file) }
    let bytes = Array(bytes)
    precondition(CLinux.write(file, bytes, bytes.count) == bytes.count, "not written: \(path)")
    return path
  }

  @discardableResult
  package func write(_ text: String, _ name: String) -> String { write(text.utf8, name) }

  /// The key, encrypted with a password.
  package func encryptedKey(of certificate: TestCertificate, password: String) -> String {
    let key = Self.readKey(certificate.keyPEM)
    defer { EVP_PKEY_free(key) }
    let secret = Array(password.utf8)
    return Self.text { PEM_write_bio_PrivateKey($0, key, EVP_aes_256_cbc(), secret, CInt(secret.count), nil, nil) }
  }

  /// A response of an OCSP responder, DER, signed by the issuer.
  /// - Parameters:
  ///   - status: `V_OCSP_CERTSTATUS_GOOD` and so on: 0 good, 1 revoked, 2 unknown.
  ///   - thisUpdate, nextUpdate: seconds from now.
  package func ocsp(
    for certificate: TestCertificate, issuer: TestCertificate, status: CInt = 0, thisUpdate: Int = -60,
    nextUpdate: Int = 86_400
  ) -> [UInt8] {
    let (leaf, parent) = (Self.readCertificate(certificate.certificatePEM), Self.readCertificate(issuer.certificatePEM))
    let signer = Self.readKey(issuer.keyPEM)
    defer {
      X509_free(leaf)
      X509_free(parent)
      EVP_PKEY_free(signer)
    }
    let basic = required(OCSP_BASICRESP_new())
    defer { OCSP_BASICRESP_free(basic) }
    let id = required(OCSP_cert_to_id(nil, leaf, parent))
    defer { OCSP_CERTID_free(id) }
    let now = time(nil)
    let times = [now, now + thisUpdate, now + nextUpdate].map { ASN1_TIME_set(nil, $0) }
    defer { for time in times { ASN1_TIME_free(time) } }
    OCSP_basic_add1_status(basic, id, status, 0, times[0], times[1], times[2])
    let isSigned = OCSP_basic_sign(basic, parent, signer, EVP_sha256(), nil, 0)
    precondition(isSigned == 1, "not signed")
    let response = required(OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic))
    defer { OCSP_RESPONSE_free(response) }
    return Self.der { i2d_OCSP_RESPONSE(response, $0) }
  }

  private func addExtensions(
    to certificate: OpaquePointer, _ parent: OpaquePointer, _ names: [String], _ isCA: Bool, _ saysWhereIssuerIs: Bool
  ) {
    var scope = X509V3_CTX()
    X509V3_set_ctx(&scope, parent, certificate, nil, nil, 0)
    var extensions = [(NID_basic_constraints, isCA ? "critical,CA:TRUE" : "CA:FALSE")]
    extensions.append(
      (NID_key_usage, isCA ? "critical,keyCertSign,cRLSign,digitalSignature" : "critical,digitalSignature"))
    extensions.append((NID_subject_key_identifier, "hash"))
    extensions.append((NID_authority_key_identifier, "keyid"))
    let list = names.map { $0.contains(":") || Self.isAddress($0) ? "IP:\($0)" : "DNS:\($0)" }
    if !isCA, !list.isEmpty { extensions.append((NID_subject_alt_name, list.joined(separator: ","))) }
    if saysWhereIssuerIs { extensions.append((NID_info_access, "caIssuers;URI:http://authority.test/issuer.der")) }
    for (kind, value) in extensions {
      // Of its own key a self-signed certificate says nothing before it is signed.
      if kind == NID_authority_key_identifier, parent == certificate { continue }
      let entry = required(X509V3_EXT_conf_nid(nil, &scope, kind, value))
      X509_add_ext(certificate, entry, -1)
      X509_EXTENSION_free(entry)
    }
  }

  // MARK: OpenSSL

  private static func isAddress(_ name: String) -> Bool {
    var room = [UInt8](repeating: 0, count: 16)
    return inet_pton(AF_INET, name, &room) == 1 || inet_pton(AF_INET6, name, &room) == 1
  }

  private static func isRoot(_ certificate: TestCertificate) -> Bool {
    let raw = readCertificate(certificate.certificatePEM)
    defer { X509_free(raw) }
    return X509_NAME_cmp(X509_get_subject_name(raw), X509_get_issuer_name(raw)) == 0
  }

  private static func key(_ kind: Kind) -> OpaquePointer {
    switch kind {
    case .ecdsa: required(pawl_make_key("EC", "P-256", 0))
    case .p384: required(pawl_make_key("EC", "P-384", 0))
    case .rsa: required(pawl_make_key("RSA", nil, 2048))
    case .ed25519: required(pawl_make_key("ED25519", nil, 0))
    }
  }

  private static func readKey(_ pem: String) -> OpaquePointer {
    withMemory(pem) { required(PEM_read_bio_PrivateKey($0, nil, nil, nil)) }
  }

  private static func readCertificate(_ pem: String) -> OpaquePointer {
    withMemory(pem) { required(PEM_read_bio_X509($0, nil, nil, nil)) }
  }

  private static func withMemory(_ text: String, _ body: (OpaquePointer) -> OpaquePointer) -> OpaquePointer {
    let bio = required(BIO_new(BIO_s_mem()))
    defer { BIO_free(bio) }
    let bytes = Array(text.utf8)
    BIO_write(bio, bytes, CInt(bytes.count))
    return body(bio)
  }

  private static func text(_ write: (OpaquePointer) -> CInt) -> String {
    let bio = required(BIO_new(BIO_s_mem()))
    defer { BIO_free(bio) }
    precondition(write(bio) == 1, "not written")
    var bytes: UnsafeMutablePointer<CChar>?
    let count = pawl_bio_memory(bio, &bytes)
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  private static func der(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8] {
    var pointer: UnsafeMutablePointer<UInt8>?
    let count = write(&pointer)
    precondition(count > 0, "not encoded")
    defer { pawl_openssl_free(pointer) }
    return Array(UnsafeBufferPointer(start: pointer, count: Int(count)))
  }
}

private func required(_ pointer: OpaquePointer?) -> OpaquePointer {
  guard let pointer else { preconditionFailure("OpenSSL made nothing") }
  return pointer
}
