import CLinux
import COpenSSL

extension TLSEngine {
  /// Decrypts received records into the buffer, as much as fits. After the socket has returned less than was requested, it is
  /// read at most once more.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
    guard buffer.count > 0, let base = buffer.baseAddress else { return .bytes(0) }
    if let end = reading.tell() { return end }
    guard facts != nil else { return .failed(ENOTCONN) }
    // Records that were read ahead come first. If the socket was empty after them, it is read again only when these records give
    // no content.
    var mayAsk = reading == .holding && socket == .drained
    if !mayAsk { prepareReceiving() }
    var filled = 0
    while filled < buffer.count, !reading.isOver {
      var count = 0
      OpenSSLError.forgetOld()
      let result = SSL_read_ex(ssl, base + filled, buffer.count - filled, &count)
      filled += count
      guard result == 1 else {
        let code = SSL_get_error(ssl, result)
        if code == SSL_ERROR_WANT_READ, filled == 0, mayAsk {
          mayAsk = false
          prepareReceiving()
          continue
        }
        noteReadError(code)
        break
      }
      let isHolding = SSL_has_pending(ssl) == 1
      reading.noteHolding(isHolding)
      // All received bytes are decrypted: OpenSSL would only read from an empty socket.
      if socket == .drained, !isHolding { break }
    }
    sendReplies()
    if filled > 0 { return .bytes(filled) }
    return reading.tell() ?? .wouldBlock
  }

  /// Whether ``read(into:)`` has bytes or an end to return although the socket may never become readable again.
  package var hasUnread: Bool {
    switch reading {
    case .idle: false
    case .holding: SSL_has_pending(ssl) == 1
    case .ended: true
    case .told(let end): end == .end
    }
  }

  /// Whether the received records hold content or the end: `false` when they were only for TLS itself (session tickets).
  package func hasContent() -> Bool {
    guard !reading.isOver, facts != nil else { return true }
    prepareReceiving()
    OpenSSLError.forgetOld()
    var byte: UInt8 = 0
    var count = 0
    let result = SSL_peek_ex(ssl, &byte, 1, &count)
    if result == 1 {
      reading.noteHolding(true)
    } else {
      noteReadError(SSL_get_error(ssl, result))
    }
    sendReplies()
    return result == 1 || reading.isOver
  }

  private func noteReadError(_ code: CInt) {
    switch code {
    case SSL_ERROR_WANT_READ:
      reading.noteHolding(false)
    case SSL_ERROR_WANT_WRITE: break
    case SSL_ERROR_ZERO_RETURN: reading.ended(.end)
    default:
      let error = OpenSSLError.take()
      if let code = socket.failure {
        reading.ended(.failed(code))
      } else {
        reading.ended(.failed(EPROTO))
        readFailure = TLSFailure(error.peerAlert.map { .alert($0) } ?? .protocolError, error.reason)
        _ = writing.end()  // After a fatal alert nothing more may be sent.
      }
    }
  }

  /// Sends records that reading caused: alerts, responses to key updates. Records that were held back before are not sent by this
  /// call.
  private func sendReplies() { if scratch?.filled != 0 { sendRecords(more: false) } }

  func prepareReceiving() {
    socket.beganReceiving()
    receiveBudget = Self.receiveLimit
  }

  /// Reads bytes from the socket, for OpenSSL.
  func receive(_ bytes: UnsafeMutableRawPointer, _ count: Int) -> Step {
    switch socket {
    case .open: guard receiveBudget > 0 else { return .wouldBlock }
    case .drained: return .wouldBlock
    case .ended: return .end
    case .failed(let code): return .failed(code)
    }
    while true {
      let received = recv(descriptor, bytes, count, 0)
      if received > 0 {
        receiveBudget -= received
        socket.received(received, of: count)
        return .bytes(received)
      }
      if received == 0 {
        socket = .ended
        return .end
      }
      switch pawl_errno() {
      case EINTR: continue
      case EAGAIN:
        socket = .drained
        return .wouldBlock
      case let code:
        socket = .failed(code)
        return .failed(code)
      }
    }
  }
}
