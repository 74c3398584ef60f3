import CLinux
import COpenSSL

/// The authorities that this system trusts.
enum SystemAuthorities {
  /// The files in which distributions keep all trusted authorities.
  static let files = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
  ]

  /// Reads the file that `SSL_CERT_FILE` names, or else the first that exists of OpenSSL's default file and ``files``. It is read
  /// completely, so that no loop waits for the disk later.
  static func store() throws(TLSProblem) -> OpaquePointer? {
    if let named = getenv("SSL_CERT_FILE") {
      return TrustStore.make(try PEMFile(String(cString: named)).certificates())
    }
    let own = X509_get_default_cert_file().map { [String(cString: $0)] } ?? []
    guard let path = (own + files).first(where: { access($0, R_OK) == 0 }) else {
      throw TLSProblem("this system has no file of trusted authorities (\(files[0])): install them, or name a file")
    }
    return TrustStore.make(try PEMFile(path).certificates())
  }
}
