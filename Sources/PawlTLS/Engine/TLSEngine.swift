import CLinux
import COpenSSL

/// One side of one TLS connection, on one socket and one loop; `SocketStream` of PawlLoop calls it. Records are gathered into few
/// system calls. Ciphertext that the socket does not accept is kept here and sent first. While nothing is on its way, an engine
/// holds no buffer.
package final class TLSEngine {
  /// The result of a step of the handshake.
  package enum Handshake: Hashable, Sendable {
    case done
    case wantsRead, wantsWrite
    /// The handshake failed, and the alert was sent; `reason` is for the log and for `Proxy-Status`.
    case failed(TLSFailure)
  }

  /// The result of reading or writing; like `IOResult` of PawlLoop.
  package enum Step: Hashable, Sendable {
    case bytes(Int)
    case wouldBlock
    /// Reading: the peer's `close_notify`. Sending a file: the file ended early.
    case end
    /// With an `errno`. `EPROTO`: the peer broke the rules of TLS. `ECONNRESET`: the connection ended without `close_notify`, so
    /// that what was read may be incomplete (RFC 8446 §6.1).
    case failed(CInt)
  }

  /// The most ciphertext that is kept for a peer that does not read, in bytes: one batch of records, and space for the responses
  /// of TLS itself. With more, the connection fails; only a peer that causes responses without reading them reaches this limit.
  package static let pendingLimit = 192 << 10
  /// The most bytes that one call reads from the socket, so that a fast peer leaves time to other connections.
  static let receiveLimit = 1 << 20

  let ssl: OpaquePointer
  /// The context of `ssl`, kept alive because its callbacks use it.
  private let keeper: AnyObject
  /// Server side: the context of the listener.
  var server: TLSServerContext? { keeper as? TLSServerContext }
  package let isClient: Bool
  var descriptor: CInt = -1
  var scratch: RecordScratch?

  // Receiving
  @exclusivity(unchecked) var socket = TLSSocket.open
  var receiveBudget = 0
  @exclusivity(unchecked) var reading = TLSReading.idle
  /// Why reading failed after the handshake, if TLS was the reason: the alert of the peer, or the error for which an alert was
  /// sent.
  package internal(set) var readFailure: TLSFailure?

  // Sending
  /// The ciphertext that the kernel has not accepted: this many bytes at the end of `pending`. Counted here because the count of
  /// an array costs a check for exclusive access, and a request needs it nine times.
  @exclusivity(unchecked) var pendingLength = 0
  var pending: [UInt8] = []
  /// Whether the socket accepted less than was sent. The pending bytes wait until the socket is writable.
  @exclusivity(unchecked) package internal(set) var isBlocked = false
  @exclusivity(unchecked) var writeFailure: CInt?
  var sizer = RecordSizer()
  @exclusivity(unchecked) var writing = TLSWriting.open

  // Handshake
  package private(set) var facts: TLSFacts?
  private var failure: TLSFailure?
  /// Whether the kernel encrypts what is sent. If so, the engine writes plain bytes to the socket.
  @exclusivity(unchecked) package private(set) var kernelSends = false
  private let wantsKernel: Bool
  /// Set by the callback for the ClientHello.
  var identity: ServerIdentity?
  var serverName: [UInt8] = []
  /// Client side: the kept sessions, and the name under which the sessions of this connection are kept.
  var sessions: ClientSessions?
  var sessionPlace = ""
  var expectedName = ""
  /// Why OpenSSL rejected the certificates of the peer.
  var verifyProblem: String?

  init(_ ssl: OpaquePointer, keeper: AnyObject, isClient: Bool) {
    (self.ssl, self.keeper, self.isClient) = (ssl, keeper, isClient)
    wantsKernel = KernelTLS.isAvailable
    // Safe: callbacks come only from within calls on `ssl`, which only this object makes, and which it frees in `deinit`.
    SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    if isClient { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
  }

  deinit {
    // Otherwise OpenSSL would mark the session of a connection without `close_notify` as not resumable.
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
    SSL_free(ssl)
  }

  /// The engine of an `SSL` in a callback of OpenSSL.
  static func of(_ ssl: OpaquePointer?) -> TLSEngine? {
    guard let ssl, let pointer = SSL_get_ex_data(ssl, 0) else { return nil }
    // Safe: set in init, on an object that outlives `ssl`.
    return Unmanaged<TLSEngine>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Sets the socket, and the memory that all engines of the loop share. Called once, before ``handshake()``.
  package func attach(_ descriptor: CInt, _ scratch: RecordScratch) {
    (self.descriptor, self.scratch) = (descriptor, scratch)
    let reader = RecordBIO.make(for: self)
    guard wantsKernel, let socket = BIO_new_socket(descriptor, BIO_NOCLOSE) else {
      BIO_up_ref(reader)
      return SSL_set_bio(ssl, reader, reader)
    }
    pawl_ssl_enable_ktls(ssl)
    SSL_set_bio(ssl, reader, socket)
  }

  // MARK: Handshake

  /// Makes the handshake fail before it begins.
  func refuse(_ reason: String) { failure = TLSFailure(.certificate, reason) }

  /// Continues the handshake as far as possible, and sends the resulting records.
  package func handshake() -> Handshake {
    if let failure { return .failed(failure) }
    if facts != nil { return .done }
    prepareReceiving()
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    let code = SSL_get_error(ssl, result)
    let outcome = outcome(result, code)
    // When a request came with the client's last flight, the session tickets are sent with its response.
    sendRecords(more: outcome == .done && hasUnread)
    return outcome
  }

  private func outcome(_ result: CInt, _ code: CInt) -> Handshake {
    if result == 1 {
      facts = makeFacts()
      reading.noteHolding(SSL_has_pending(ssl) == 1)
      // From now on OpenSSL keeps buffers only while they hold data. This is not set earlier, because OpenSSL would then allocate
      // its buffers five times during the handshake.
      pawl_ssl_release_buffers(ssl)
      if !hasUnread { SSL_free_buffers(ssl) }
      takeUpKernel()
      return .done
    }
    switch code {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    default:
      let failure = makeFailure(code)
      self.failure = failure
      return .failed(failure)
    }
  }

  /// Switches to kernel TLS after the handshake. Where the kernel does not support the cipher, pawl sends the records itself.
  private func takeUpKernel() {
    guard wantsKernel, let writer = SSL_get_wbio(ssl), let reader = SSL_get_rbio(ssl), writer != reader else { return }
    if pawl_bio_ktls_sends(writer) != 0 {
      kernelSends = true
    } else {
      BIO_up_ref(reader)
      SSL_set0_wbio(ssl, reader)
    }
  }

  private func makeFailure(_ code: CInt) -> TLSFailure {
    let verified = SSL_get_verify_result(ssl)
    let error = OpenSSLError.take()
    if let verifyProblem, verified != Int(X509_V_OK), code == SSL_ERROR_SSL, error.peerAlert == nil {
      return TLSFailure(.certificate, verifyProblem)
    }
    if code == SSL_ERROR_SSL, error.code != 0, socket != .ended {
      if let alert = error.peerAlert { return TLSFailure(.alert(alert), error.reason) }
      var failure = TLSFailure(.protocolError, error.reason)
      failure.isClearRequest = error.isClearRequest
      return failure
    }
    if case .failed(let code) = socket { return TLSFailure(.protocolError, systemText(code)) }
    if let writeFailure { return TLSFailure(.protocolError, systemText(writeFailure)) }
    return TLSFailure(.protocolError, "the peer closed the connection during the handshake")
  }

  private func makeFacts() -> TLSFacts {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    let cipher = SSL_get_current_cipher(ssl).flatMap { SSL_CIPHER_get_name($0) }.map { String(cString: $0) }
    return TLSFacts(
      version: SSL_version(ssl) == TLS1_3_VERSION ? .v13 : .v12, cipher: cipher ?? "",
      applicationProtocol: Array(UnsafeBufferPointer(start: name, count: Int(count))), serverName: serverName,
      section: identity?.section ?? 0, isResumed: SSL_session_reused(ssl) == 1,
      peerCertificate: SSL_get0_peer_certificate(ssl).flatMap { verifiedPeer($0) })
  }

  /// The verify callback of `SSL_CTX_set_verify`: describes the problem, and fails the verification.
  static let onVerify: @convention(c) (CInt, OpaquePointer?) -> CInt = { isGood, store in
    guard isGood == 0, let store,
      let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
      let engine = TLSEngine.of(OpaquePointer(ssl)), SSL_get_verify_mode(engine.ssl) != SSL_VERIFY_NONE
    else { return isGood }
    engine.verifyProblem = VerifyProblem.describe(store, expected: engine.expectedName)
    return 0
  }

  private func verifiedPeer(_ certificate: OpaquePointer) -> PeerCertificate? {
    guard SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE, SSL_get_verify_result(ssl) == Int(X509_V_OK) else { return nil }
    return PeerCertificate(x509: certificate)
  }
}
