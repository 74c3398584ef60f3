import CLinux

/// What is done on a connection before anything is spoken on it, when it ends, or after what was to be spoken failed: with the
/// bytes as they are on the wire, whatever protects the connection.
extension SocketStream {
  /// What is there, without taking it off the socket (`MSG_PEEK`).
  package func peek(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
    take(buffer, flags: pawl_MSG_PEEK)
  }

  /// Takes off what is there; ``read(into:)`` where nothing protects the connection.
  package func readUnprotected(into buffer: UnsafeMutableRawBufferPointer) -> IOResult { take(buffer, flags: 0) }

  /// FIN, and nothing before it that was not written.
  package func endUnprotected() {
    loop.preconditionOnLoop()
    guard !isClosed else { return }
    stopWanting()
    shutdown(rawDescriptor, pawl_SHUT_WR)
  }

  /// Whether the peer has sent what nobody has read: were the socket closed now, it would be told so by a reset, which
  /// overtakes what was sent to it.
  package var holdsUnread: Bool {
    guard !isClosed else { return false }
    return protection?.engine.hasUnread == true || pawl_bytes_unread(descriptor) > 0
  }

  /// The kernel asks the peer from time to time whether it is there still.
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
