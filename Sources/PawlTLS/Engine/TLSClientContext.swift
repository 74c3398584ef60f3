import CLinux
import COpenSSL

/// The client side of TLS for one upstream, with the sessions that can be resumed. Safe on any thread.
package final class TLSClientContext: @unchecked Sendable {
  // Safe: set up by one thread before other threads use it. OpenSSL synchronises what it changes in a context.
  private let context: OpaquePointer
  private let verifies: Bool
  let sessions = ClientSessions()
  /// Problems that do not prevent loading.
  package let warnings: [TLSProblem]

  /// Reads all files. Blocking: never on a loop.
  package init(_ settings: TLSClientSettings) throws(TLSProblem) {
    _ = KernelTLS.isAvailable  // Found out here, where blocking is allowed.
    var warnings: [TLSProblem] = []
    var pair: CertificatePair?
    if let files = settings.pair {
      let loaded = try CertificatePair(files)
      warnings = loaded.warnings
      pair = loaded
    }
    let store = settings.verifies ? try Self.trusted(settings.ca) : nil
    defer { X509_STORE_free(store) }
    let context = try ContextRules.make(TLS_client_method(), minVersion: settings.minVersion)
    (self.context, verifies, self.warnings) = (context, settings.verifies, warnings)
    if let pair { try ContextRules.use(pair, in: context) }
    if let store { SSL_CTX_set1_cert_store(context, store) }
    SSL_CTX_set_verify_depth(context, TrustStore.depth)
    SSL_CTX_set_verify(context, settings.verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, TLSEngine.onVerify)
    pawl_ssl_ctx_keep_client_sessions(context)
    SSL_CTX_sess_set_new_cb(context, onNewSession)
    if settings.maxVersion == .v12 { _ = pawl_ssl_ctx_set_max_version(context, CInt(TLS1_2_VERSION)) }
    let protocols = settings.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count))
  }

  deinit { SSL_CTX_free(context) }

  /// Makes an engine for one connected socket.
  /// - Parameters:
  ///   - serverName: the name that the certificate of the server must have: a DNS name, which is sent by SNI, or a literal
  ///     address, which is not. In lower case, without brackets.
  ///   - place: identifies the sessions that may be resumed; the same for all connections to one address and port of one server.
  package func makeEngine(serverName: String, place: String) -> TLSEngine {
    guard let ssl = SSL_new(context) else { preconditionFailure("out of memory") }
    let engine = TLSEngine(ssl, keeper: self, isClient: true)
    engine.expectedName = serverName
    let isAddress = Self.isAddress(serverName)
    if !isAddress { _ = pawl_ssl_set_server_name(ssl, serverName) }
    if verifies {
      SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
      let isBound =
        isAddress
        ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), serverName) : SSL_set1_host(ssl, serverName)
      // Without a name, any certificate would be accepted.
      if isBound != 1 || serverName.isEmpty { engine.refuse("there is no name to compare the certificate with") }
    }
    // A session keeps the result of the verification, so it may be used only for this name.
    engine.sessionPlace = "\(serverName)\0\(place)"
    engine.sessions = sessions
    if let session = sessions.take(for: engine.sessionPlace, now: wallSeconds()) { resume(session, ssl) }
    return engine
  }

  /// Resumes a session. A session of TLS 1.2 serves several connections, and each gets a copy, since OpenSSL changes sessions in
  /// use.
  private func resume(_ session: ClientSessions.Session, _ ssl: OpaquePointer) {
    if session.isForOneUse {
      SSL_set_session(ssl, session.raw)
    } else if let copy = SSL_SESSION_dup(session.raw) {
      SSL_set_session(ssl, copy)
      SSL_SESSION_free(copy)
    }
  }

  private static func isAddress(_ name: String) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { room in
      inet_pton(AF_INET, name, room.baseAddress) == 1 || inet_pton(AF_INET6, name, room.baseAddress) == 1
    }
  }

  private static func trusted(_ ca: String?) throws(TLSProblem) -> OpaquePointer? {
    if let ca { return TrustStore.make(try PEMFile(ca).certificates()) }
    return try SystemAuthorities.store()
  }
}

private func onNewSession(_ ssl: OpaquePointer?, _ session: OpaquePointer?) -> CInt {
  guard let engine = TLSEngine.of(ssl), let sessions = engine.sessions, let session else { return 0 }
  sessions.keep(ClientSessions.Session(adopting: session), for: engine.sessionPlace)
  return 1
}
