import CLinux
import COpenSSL

/// Sending through kernel TLS (`SSL_OP_ENABLE_KTLS`): the kernel encrypts the bytes that are written to the socket, so pawl
/// gathers and keeps no records.
extension TLSEngine {
  func kernelWrite(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ more: Bool) -> Step {
    var pieces = [first, second].map {
      iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
    }
    let flags = pawl_MSG_NOSIGNAL | (more ? pawl_MSG_MORE : 0)
    return pieces.withUnsafeMutableBufferPointer { pieces in
      var message = msghdr()
      message.msg_iov = pieces.baseAddress
      message.msg_iovlen = pieces.count
      while true {
        let count = sendmsg(descriptor, &message, flags)
        if count >= 0 { return .bytes(count) }
        switch pawl_errno() {
        case EINTR: continue
        case EAGAIN: return .wouldBlock
        case let code: return fail(code)
        }
      }
    }
  }

  func kernelSendFile(_ file: CInt, _ offset: UInt64, _ count: Int) -> Step {
    guard let position = off_t(exactly: offset) else { return .end }
    while true {
      ERR_clear_error()
      pawl_set_errno(0)
      let sent = SSL_sendfile(ssl, file, position, count, 0)
      if sent > 0 { return .bytes(sent) }
      if sent == 0 { return .end }
      let code = pawl_errno()
      if SSL_get_error(ssl, CInt(sent)) == SSL_ERROR_WANT_WRITE || code == EAGAIN { return .wouldBlock }
      if code == EINTR { continue }
      // An error of the file is no error of the connection.
      return code == EPIPE || code == ECONNRESET || code == 0 ? fail(code == 0 ? EPROTO : code) : .failed(code)
    }
  }

  /// Sends `close_notify`; when the socket is full, it is sent later.
  func kernelEnd() {
    ERR_clear_error()
    let result = SSL_shutdown(ssl)
    let isOwed = result < 0 && SSL_get_error(ssl, result) == SSL_ERROR_WANT_WRITE
    _ = writing.noteCloseNotify(isOwed: isOwed)
    if isOwed { isBlocked = true }
  }

  private func fail(_ code: CInt) -> Step {
    writeFailure = code
    return .failed(code)
  }
}
