import COpenSSL

/// The certificates for one set of names, with different kinds of key, in their own `SSL_CTX`.
final class ServerIdentity: @unchecked Sendable {
  // Safe: set up by one thread before other threads use it, and only read after that. OpenSSL synchronises what it changes in an
  // `SSL_CTX`.
  let context: OpaquePointer
  let section: Int
  /// The session ID context of OpenSSL, 32 bytes. It binds tickets to the section and its demands on client certificates.
  let sessionID: [UInt8]
  let verifyMode: CInt
  let minVersion: TLSVersion
  private(set) var keyTypes: Set<CInt> = []
  private(set) var names: Set<String> = []
  /// The OCSP responses by the address of the certificate, which `context` keeps alive.
  private var staples: [OpaquePointer: OCSPStaple] = [:]

  init(_ section: Int, _ settings: TLSServerSettings, _ clients: ClientAuthority?) throws(TLSProblem) {
    context = try ContextRules.make(TLS_server_method(), minVersion: settings.minVersion)
    self.section = section
    minVersion = settings.minVersion
    sessionID = Self.makeSessionID(settings, clients)
    switch settings.clientCertificates {
    case .off: verifyMode = SSL_VERIFY_NONE
    case .optional: verifyMode = SSL_VERIFY_PEER
    case .required: verifyMode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
    }
    pawl_ssl_ctx_set_server_options(context)
    SSL_CTX_set_timeout(context, Int(TicketKeys.grace))
    SSL_CTX_set_verify(context, verifyMode, TLSEngine.onVerify)
    SSL_CTX_set_session_id_context(context, sessionID, UInt32(sessionID.count))
    if verifyMode != SSL_VERIFY_NONE, let clients { clients.install(in: context) }
  }

  deinit { SSL_CTX_free(context) }

  func add(_ pair: CertificatePair) throws(TLSProblem) {
    try ContextRules.use(pair, in: context)
    keyTypes.insert(pair.leaf.keyType)
    names.formUnion(pair.leaf.dnsNames)
  }

  func staple(_ staple: OCSPStaple, to leaf: Certificate) { staples[leaf.raw] = staple }
  func staple(for certificate: OpaquePointer) -> OCSPStaple? { staples[certificate] }

  /// Sets the certificates and the demands of this identity on a connection.
  func apply(to ssl: OpaquePointer) {
    SSL_set_SSL_CTX(ssl, context)
    SSL_set_verify(ssl, verifyMode, nil)
    SSL_set_session_id_context(ssl, sessionID, UInt32(sessionID.count))
    _ = pawl_ssl_set_min_version(ssl, ContextRules.number(minVersion))
  }

  private static func makeSessionID(_ settings: TLSServerSettings, _ clients: ClientAuthority?) -> [UInt8] {
    var text = Array("\(settings.name)\0\(settings.clientCertificates)\0\(settings.minVersion)\0".utf8)
    if let clients { text += clients.bytes }
    return SHA256.digest(text)
  }
}

/// The authorities that must have issued the certificates of clients.
final class ClientAuthority {
  /// The bytes of the file with the authorities.
  let bytes: [UInt8]
  private let certificates: [Certificate]
  private let path: String

  init(_ path: String) throws(TLSProblem) {
    let file = try PEMFile(path)
    (bytes, certificates, self.path) = (file.bytes, try file.certificates(), path)
  }

  func install(in context: OpaquePointer) {
    guard let store = TrustStore.make(certificates) else { preconditionFailure("out of memory") }
    defer { X509_STORE_free(store) }
    _ = pawl_ssl_ctx_set_verify_store(context, store)
    for certificate in certificates { SSL_CTX_add_client_CA(context, certificate.raw) }
    SSL_CTX_set_verify_depth(context, TrustStore.depth)
  }
}

/// Makes stores of trusted authorities.
enum TrustStore {
  /// The most certificates between the peer's and the authority's.
  static let depth: CInt = 8

  /// Makes a store. A chain may end at any of the certificates: an intermediate one, or the peer's own, is trusted as it is.
  static func make(_ certificates: [Certificate]) -> OpaquePointer? {
    guard let store = X509_STORE_new() else { return nil }
    for certificate in certificates { X509_STORE_add_cert(store, certificate.raw) }
    X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    return store
  }
}
