import CLinux
import COpenSSL

extension TLSEngine {
  /// Decrypts what has come, as much as fits; the socket is asked at most once after it had less than was asked for.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
    guard buffer.count > 0, let base = buffer.baseAddress else { return .bytes(0) }
    if let readEnd {
      readEndWasTold = true
      return readEnd
    }
    guard facts != nil else { return .failed(ENOTCONN) }
    prepareReceiving()
    var filled = 0
    while filled < buffer.count, readEnd == nil {
      var count = 0
      OpenSSLError.forgetOld()
      let result = SSL_read_ex(ssl, base + filled, buffer.count - filled, &count)
      filled += count
      guard result == 1 else {
        noteReadError(SSL_get_error(ssl, result))
        break
      }
      mayHoldRecords = SSL_has_pending(ssl) == 1
      // All that has left the socket is read: OpenSSL would only ask for what is not there.
      if isDrained, !mayHoldRecords { break }
    }
    settle(more: false)
    if filled > 0 { return .bytes(filled) }
    guard let readEnd else { return .wouldBlock }
    readEndWasTold = true
    return readEnd
  }

  /// Whether ``read(into:)`` has something to give although the socket may never become readable again.
  package var hasUnread: Bool {
    if readEnd != nil { return readEnd == .end || !readEndWasTold }
    return mayHoldRecords && SSL_has_pending(ssl) == 1
  }

  /// Whether what has come holds anything for the reader: `false` when it was only TLS's own (session tickets).
  package func hasContent() -> Bool {
    guard readEnd == nil, facts != nil else { return true }
    prepareReceiving()
    OpenSSLError.forgetOld()
    var octet: UInt8 = 0
    var count = 0
    let result = SSL_peek_ex(ssl, &octet, 1, &count)
    if result == 1 {
      mayHoldRecords = true
    } else {
      noteReadError(SSL_get_error(ssl, result))
    }
    settle(more: false)
    return result == 1 || readEnd != nil
  }

  private func noteReadError(_ code: CInt) {
    switch code {
    case SSL_ERROR_WANT_READ:
      mayHoldRecords = false
    case SSL_ERROR_WANT_WRITE: break
    case SSL_ERROR_ZERO_RETURN: readEnd = .end
    default:
      let error = OpenSSLError.take()
      if sawEndOfStream {
        readEnd = .failed(ECONNRESET)
      } else if receiveError != 0 {
        readEnd = .failed(receiveError)
      } else {
        readEnd = .failed(EPROTO)
        readFailure = TLSFailure(error.peerAlert.map { .alert($0) } ?? .protocolError, error.reason)
        hasEndedWriting = true  // A fatal alert was the last word.
      }
    }
  }

  func prepareReceiving() {
    isDrained = false
    receiveBudget = Self.receiveLimit
  }

  /// For OpenSSL: octets of the socket.
  func receive(_ bytes: UnsafeMutableRawPointer, _ count: Int) -> Step {
    guard !isDrained, receiveBudget > 0 else { return .wouldBlock }
    while true {
      let received = recv(descriptor, bytes, count, 0)
      if received > 0 {
        receiveBudget -= received
        isDrained = received < count
        return .bytes(received)
      }
      if received == 0 {
        sawEndOfStream = true
        return .end
      }
      switch pawl_errno() {
      case EINTR: continue
      case EAGAIN:
        isDrained = true
        return .wouldBlock
      case let code:
        receiveError = code
        return .failed(code)
      }
    }
  }
}
