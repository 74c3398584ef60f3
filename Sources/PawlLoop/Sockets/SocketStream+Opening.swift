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
