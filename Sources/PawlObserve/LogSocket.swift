import CLinux

/// A connected local socket that takes one message for each log line: that of a syslog daemon, or that of the journal. Used by the
/// writer's thread only.
///
/// When the daemon was restarted, the next message connects again. A message that the daemon does not take within a second is lost.
final class LogSocket {
  private let path: String
  /// Whether a message that is too large for the socket is sent as a sealed file in memory (the journal's native protocol).
  private let sendsLargeAsFile: Bool
  private var descriptor: CInt = -1
  /// How often sending one message is tried: once, and once more after connecting again.
  private static let tries = 2

  init(_ path: String, sendsLargeAsFile: Bool) throws(LogError) {
    (self.path, self.sendsLargeAsFile) = (path, sendsLargeAsFile)
    guard connect() else { throw LogError(path: path, code: pawl_errno()) }
  }

  deinit { if descriptor >= 0 { _ = close(descriptor) } }

  /// Sends one message. Returns `false` if it is lost; `errno` then says why.
  func send(_ message: UnsafeRawBufferPointer) -> Bool {
    for _ in 0..<Self.tries {
      guard descriptor >= 0 || connect() else { return false }
      if pass(message) { return true }
      switch pawl_errno() {
      case EMSGSIZE, EAGAIN: return false
      default: disconnect()
      }
    }
    return false
  }

  private func pass(_ message: UnsafeRawBufferPointer) -> Bool {
    let flags = pawl_MSG_NOSIGNAL | pawl_MSG_DONTWAIT
    while true {
      if pawl_sendto(descriptor, message.baseAddress, message.count, flags, nil, 0) >= 0 { return true }
      if pawl_errno() == EMSGSIZE || pawl_errno() == ENOBUFS, sendsLargeAsFile { return passAsFile(message) }
      guard LogOutput.waitAfterFailure(of: descriptor) else { return false }
    }
  }

  private func passAsFile(_ message: UnsafeRawBufferPointer) -> Bool {
    let file = pawl_memfd("pawl-log")
    guard file >= 0 else { return false }
    defer { _ = close(file) }
    var rest = message[...]
    while !rest.isEmpty {
      let count = CLinux.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return pawl_seal(file) == 0 && pawl_send_descriptor(descriptor, file) >= 0
  }

  private func connect() -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
      guard path.utf8.count < room.count else { return false }
      room.copyBytes(from: path.utf8)
      return true
    }
    guard fits else {
      pawl_set_errno(ENAMETOOLONG)
      return false
    }
    let made = socket(AF_UNIX, pawl_datagramSocket, 0)
    guard made >= 0 else { return false }
    let isConnected = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        pawl_connect(made, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isConnected else {
      let code = pawl_errno()
      _ = close(made)
      pawl_set_errno(code)
      return false
    }
    descriptor = made
    return true
  }

  private func disconnect() {
    let code = pawl_errno()
    if descriptor >= 0 { _ = close(descriptor) }
    descriptor = -1
    pawl_set_errno(code)
  }
}
