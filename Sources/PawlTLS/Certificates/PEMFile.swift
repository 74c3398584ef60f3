import CLinux
import COpenSSL

/// A reference to a certificate of OpenSSL, freed with this object.
final class Certificate {
  let raw: OpaquePointer
  init(adopting raw: OpaquePointer) { self.raw = raw }
  deinit { X509_free(raw) }
}

/// A reference to a private key of OpenSSL, freed with this object.
final class PrivateKey {
  let raw: OpaquePointer
  init(adopting raw: OpaquePointer) { self.raw = raw }
  deinit { EVP_PKEY_free(raw) }
}

/// A file of certificates or keys, read completely before it is parsed.
struct PEMFile {
  /// The largest file that is read, in bytes.
  static let limit = 8 << 20
  let path: String
  let bytes: [UInt8]

  /// - Throws: ``TLSProblem`` with the system's reason.
  init(_ path: String) throws(TLSProblem) {
    self.path = path
    let file = pawl_open(path, O_RDONLY, 0)
    guard file >= 0 else { throw TLSProblem("cannot be read: \(systemText(pawl_errno()))", file: path) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(file, &chunk, chunk.count)
      if count == 0 { break }
      if count < 0 {
        if pawl_errno() == EINTR { continue }
        throw TLSProblem("cannot be read: \(systemText(pawl_errno()))", file: path)
      }
      bytes += chunk[..<count]
      guard bytes.count <= Self.limit else { throw TLSProblem("is too large for what it should hold", file: path) }
    }
    self.bytes = bytes
  }

  /// All certificates, in their order.
  /// - Throws: ``TLSProblem`` when there is none, or one is damaged.
  func certificates() throws(TLSProblem) -> [Certificate] {
    let bio = memory()
    defer { BIO_free(bio) }
    var found: [Certificate] = []
    ERR_clear_error()
    while let raw = PEM_read_bio_X509(bio, nil, refusePassword, nil) { found.append(Certificate(adopting: raw)) }
    let error = OpenSSLError.take()
    let isEnd = (error.code >> 23) & 0xff == UInt(ERR_LIB_PEM) && error.code & 0x7f_ffff == UInt(PEM_R_NO_START_LINE)
    guard isEnd else { throw TLSProblem("certificate \(found.count + 1) is damaged: \(error.reason)", file: path) }
    guard !found.isEmpty else { throw TLSProblem("holds no certificate", file: path) }
    return found
  }

  /// The first private key.
  func privateKey() throws(TLSProblem) -> PrivateKey {
    let bio = memory()
    defer { BIO_free(bio) }
    ERR_clear_error()
    var wasAsked = false
    if let raw = PEM_read_bio_PrivateKey(bio, nil, refusePassword, &wasAsked) { return PrivateKey(adopting: raw) }
    let error = OpenSSLError.take()
    if wasAsked { throw TLSProblem("the key is encrypted: use a key file without a password", file: path) }
    let isThere = String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains {
      $0.hasPrefix("-----BEGIN ") && $0.contains("PRIVATE KEY-----")
    }
    throw TLSProblem(isThere ? "the private key is damaged: \(error.reason)" : "holds no private key", file: path)
  }

  private func memory() -> OpaquePointer {
    // A BIO of its own holds a copy of the bytes while OpenSSL parses them.
    guard let bio = BIO_new(BIO_s_mem()) else { preconditionFailure("out of memory") }
    BIO_write(bio, bytes, CInt(bytes.count))
    return bio
  }
}

private func refusePassword(
  _: UnsafeMutablePointer<CChar>?, _: CInt, _: CInt, argument: UnsafeMutableRawPointer?
) -> CInt {
  argument?.storeBytes(of: true, as: Bool.self)
  return -1
}
