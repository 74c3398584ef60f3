import COpenSSL

/// What a scripted client says in its handshake.
package struct TLSOffer: Sendable {
  package var serverName: String?
  /// By ALPN.
  package var protocols: [String]
  /// PEM files of the client's own certificate.
  package var certificate: TestCertificate?
  package var session: TLSSession?

  package init(
    _ serverName: String? = nil, protocols: [String] = ["http/1.1"], certificate: TestCertificate? = nil,
    session: TLSSession? = nil
  ) {
    (self.serverName, self.protocols, self.certificate, self.session) = (serverName, protocols, certificate, session)
  }
}

/// A session that another connection can resume.
package final class TLSSession: @unchecked Sendable {
  // Safe: OpenSSL counts and locks it.
  let raw: OpaquePointer
  init(adopting raw: OpaquePointer) { self.raw = raw }
  deinit { SSL_SESSION_free(raw) }
}

/// The client's side of TLS on memory: what goes over the socket is the client's own affair.
package final class ScriptedClientTLS {
  package struct Facts: Hashable, Sendable {
    package var applicationProtocol: String
    /// Of the certificate that was shown.
    package var certificate: [UInt8]
    package var isResumed: Bool
  }
  enum Outcome { case done, wantsRead, failed(String) }

  private let context: OpaquePointer
  private let ssl: OpaquePointer
  private let input: OpaquePointer
  private let output: OpaquePointer

  init(_ offer: TLSOffer) {
    guard let context = SSL_CTX_new(TLS_client_method()), let ssl = SSL_new(context),
      let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem())
    else { preconditionFailure("out of memory") }
    (self.context, self.ssl, self.input, self.output) = (context, ssl, input, output)
    SSL_set_bio(ssl, input, output)
    SSL_set_connect_state(ssl)
    if let name = offer.serverName { _ = pawl_ssl_set_server_name(ssl, name) }
    let protocols = offer.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    if !protocols.isEmpty { SSL_set_alpn_protos(ssl, protocols, UInt32(protocols.count)) }
    if let certificate = offer.certificate {
      SSL_use_certificate_file(ssl, certificate.certificate, SSL_FILETYPE_PEM)
      SSL_use_PrivateKey_file(ssl, certificate.key, SSL_FILETYPE_PEM)
    }
    if let session = offer.session { SSL_set_session(ssl, session.raw) }
  }

  deinit {
    // Else the session of a connection that just ended could not be resumed.
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
    SSL_free(ssl)
    SSL_CTX_free(context)
  }

  func handshake() -> Outcome {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    guard result != 1 else { return .done }
    guard SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ else { return .wantsRead }
    var text = [CChar](repeating: 0, count: 256)
    ERR_error_string_n(ERR_get_error(), &text, text.count)
    return .failed(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  var facts: Facts {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    var der: UnsafeMutablePointer<UInt8>?
    let length = SSL_get0_peer_certificate(ssl).map { i2d_X509($0, &der) } ?? 0
    defer { pawl_openssl_free(der) }
    return Facts(
      applicationProtocol: String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self),
      certificate: Array(UnsafeBufferPointer(start: der, count: Int(max(0, length)))),
      isResumed: SSL_session_reused(ssl) == 1)
  }

  var session: TLSSession? { SSL_get1_session(ssl).map { TLSSession(adopting: $0) } }

  // MARK: Bytes

  /// What goes to the socket.
  func takeOutput() -> [UInt8] { drain { BIO_read(output, $0, $1) } }

  /// What came from it.
  func take(_ bytes: [UInt8]) { BIO_write(input, bytes, CInt(bytes.count)) }

  /// What can be read in clear.
  func read() -> [UInt8] { drain { SSL_read(ssl, $0, $1) } }

  func write(_ bytes: [UInt8]) -> Bool { bytes.isEmpty || SSL_write(ssl, bytes, CInt(bytes.count)) > 0 }

  private func drain(_ read: (UnsafeMutableRawPointer, CInt) -> CInt) -> [UInt8] {
    var all: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = room.withUnsafeMutableBytes { bytes in bytes.baseAddress.map { read($0, CInt(bytes.count)) } ?? 0 }
      guard count > 0 else { return all }
      all += room.prefix(Int(count))
    }
  }
}
