import CLinux
import COpenSSL

/// TLS of a scripted origin, by OpenSSL's own sockets: nothing of pawl's takes part.
package final class ScriptedTLS: @unchecked Sendable {
  // Safe: set up once; OpenSSL counts and locks what connections change in it.
  let context: OpaquePointer

  /// What a handshake came to.
  package struct Handshake: Hashable, Sendable {
    package var isDone: Bool
    package var isResumed = false
    package var serverName: String?
    package var hasClientCertificate = false
    package var isTLS12 = false

    package init(
      isDone: Bool, isResumed: Bool = false, serverName: String? = nil, hasClientCertificate: Bool = false,
      isTLS12: Bool = false
    ) {
      (self.isDone, self.isResumed, self.serverName) = (isDone, isResumed, serverName)
      (self.hasClientCertificate, self.isTLS12) = (hasClientCertificate, isTLS12)
    }
  }

  /// - Parameters:
  ///   - certificate, key: paths of PEM files.
  ///   - clientCA: clients without a certificate from here are refused.
  package init(certificate: String, key: String, clientCA: String? = nil, onlyTLS12: Bool = false) {
    _ = pawl_ignore_signal(SIGPIPE)
    guard let context = SSL_CTX_new(TLS_server_method()) else { preconditionFailure("out of memory") }
    self.context = context
    precondition(SSL_CTX_use_certificate_chain_file(context, certificate) == 1, "no certificate: \(certificate)")
    precondition(SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1, "no key: \(key)")
    let name: [UInt8] = [112, 97, 119, 108]
    SSL_CTX_set_session_id_context(context, name, UInt32(name.count))
    if onlyTLS12 { SSL_CTX_ctrl(context, Self.setMaxVersion, Int(TLS1_2_VERSION), nil) }
    if let clientCA {
      precondition(SSL_CTX_load_verify_file(context, clientCA) == 1, "no authority: \(clientCA)")
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }
  }

  deinit { SSL_CTX_free(context) }

  /// `SSL_CTRL_SET_MAX_PROTO_VERSION`.
  private static let setMaxVersion: CInt = 124
}

/// The socket of a script, in clear or protected. Blocking, on one thread.
final class ScriptSocket {
  let descriptor: CInt
  private let ssl: OpaquePointer?
  private(set) var handshake: ScriptedTLS.Handshake?
  /// The end of the connection is to look like a cut.
  var endsWithoutNotice = false

  /// Does the handshake, too.
  init(_ descriptor: CInt, _ tls: ScriptedTLS?) {
    self.descriptor = descriptor
    guard let tls, let ssl = SSL_new(tls.context) else {
      self.ssl = nil
      return
    }
    self.ssl = ssl
    waitInCalls()
    SSL_set_fd(ssl, descriptor)
    guard SSL_accept(ssl) == 1 else {
      handshake = ScriptedTLS.Handshake(isDone: false)
      return
    }
    let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
    handshake = ScriptedTLS.Handshake(
      isDone: true, isResumed: SSL_session_reused(ssl) == 1, serverName: name,
      hasClientCertificate: SSL_get0_peer_certificate(ssl) != nil, isTLS12: SSL_version(ssl) == TLS1_2_VERSION)
  }

  deinit { SSL_free(ssl) }

  /// OpenSSL's calls wait for the peer by themselves, with the patience of the script.
  private func waitInCalls() {
    let flags = pawl_fcntl(descriptor, F_GETFL, 0)
    _ = pawl_fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK)
    var time = timeval(tv_sec: Int(ScriptPlayer.patience) / 1000, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  var isBroken: Bool { handshake?.isDone == false }
  /// Bytes that have left the socket already.
  var hasHeld: Bool { ssl.map { SSL_pending($0) > 0 } ?? false }

  func receive(_ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int {
    guard let ssl else { return recv(descriptor, buffer, count, 0) }
    return Int(SSL_read(ssl, buffer, CInt(clamping: count)))
  }

  /// In clear without waiting, as `send` answers; over TLS until all is with the kernel.
  func send(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard let ssl else {
      return CLinux.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
    return Int(SSL_write(ssl, bytes.baseAddress, CInt(clamping: bytes.count)))
  }

  func endWriting() {
    if let ssl, !endsWithoutNotice { SSL_shutdown(ssl) }
    shutdown(descriptor, pawl_SHUT_WR)
  }

  func end() {
    if let ssl, !isBroken, !endsWithoutNotice { SSL_shutdown(ssl) }
    close(descriptor)
  }
}
