import CLinux

/// Access to the bytes on the wire, without TLS. Used for bytes before the protocol (such as the PROXY header), for the end of a
/// connection, and for a failed handshake.
extension SocketStream {
  /// Reads the bytes that have arrived without removing them from the socket (`MSG_PEEK`).
  package func peek(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
    take(buffer, flags: pawl_MSG_PEEK)
  }

  /// Reads the bytes that have arrived. For a connection without TLS this is the same as ``read(into:)``.
  package func readUnprotected(into buffer: UnsafeMutableRawBufferPointer) -> IOResult { take(buffer, flags: 0) }

  /// Sends FIN. Bytes that still wait in pawl (pending ciphertext) are not sent.
  package func endUnprotected() {
    loop.preconditionOnLoop()
    guard !isClosed else { return }
    stopWanting()
    shutdown(rawDescriptor, pawl_SHUT_WR)
  }

  /// Whether the peer has sent bytes that were not read. If the socket were closed now, the kernel would send a reset, which
  /// can overtake what was sent to the peer.
  package var holdsUnread: Bool {
    guard !isClosed else { return false }
    return protection?.engine.hasUnread == true || pawl_bytes_unread(descriptor) > 0
  }

  /// Returns the error that has broken the connection, and clears it; `nil`: there is none. For a stream that is not read any more.
  package func takeError() -> CInt? {
    guard !isClosed else { return EBADF }
    if let code = socketOption(rawDescriptor, SOL_SOCKET, SO_ERROR), code != 0 { return code }
    // A write after the reset, such as that of TLS's last record, has the error already. A connection that ended in order has
    // nothing unsent.
    var (state, length) = (UInt8(0), socklen_t(1))
    let closed: UInt8 = 7
    guard getsockopt(rawDescriptor, CInt(IPPROTO_TCP), TCP_INFO, &state, &length) == 0, state == closed,
      pawl_bytes_unsent(rawDescriptor) > 0
    else { return nil }
    return EPIPE
  }

  /// Turns on TCP keep-alive for this connection.
  package func probePeer() { if !isClosed { probePeers(of: rawDescriptor) } }

  private func take(_ buffer: UnsafeMutableRawBufferPointer, flags: CInt) -> IOResult {
    guard !isClosed else { return .failed(EBADF) }
    guard buffer.count > 0 else { return .bytes(0) }
    while true {
      let count = recv(rawDescriptor, buffer.baseAddress, buffer.count, flags)
      if count > 0 { return .bytes(count) }
      if count == 0 { return .end }
      switch pawl_errno() {
      case EINTR: continue
      case EAGAIN: return .wouldBlock
      case let code: return .failed(code)
      }
    }
  }
}
