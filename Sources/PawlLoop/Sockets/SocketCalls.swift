import CLinux

/// Sets an integer option. An option that this kind of socket does not have is ignored (`TCP_NODELAY` on a unix socket).
func setSocketOption(_ fd: CInt, _ level: CInt, _ option: CInt, _ value: CInt) {
  var value = value
  setsockopt(fd, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
}

func socketOption(_ fd: CInt, _ level: CInt, _ option: CInt) -> CInt? {
  var value: CInt = 0
  var length = socklen_t(MemoryLayout<CInt>.size)
  return getsockopt(fd, level, option, &value, &length) == 0 ? value : nil
}

/// Selects the congestion control `reno` for a connection that stays on this machine. If the system uses a congestion control
/// with pacing (bbr), its timers take a third of the CPU time for a large body, and there is no network that pacing could
/// protect. `reno` does not pace, and every kernel has it. Accepted connections inherit the setting from their listener.
func sendUnpaced(_ fd: CInt) {
  _ = "reno".withCString { setsockopt(fd, CInt(IPPROTO_TCP), TCP_CONGESTION, $0, socklen_t(4)) }
}

/// Opens a non-blocking stream socket that child processes do not inherit; -1 and `errno` on failure.
func openSocket(_ family: CInt) -> CInt {
  let flags = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
  return socket(family, CInt(flags), 0)
}

/// Calls `getsockname` or `getpeername`. Returns `nil` if the socket is not connected any more.
func socketAddress(
  _ fd: CInt, _ ask: (CInt, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> CInt
) -> SocketAddress? {
  withAddressSpace { ask(fd, $0, $1) }.address
}

/// Calls `body` with memory for an address, and returns the address that the kernel wrote there.
func withAddressSpace(
  _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
) -> (result: CInt, address: SocketAddress?) {
  var storage = sockaddr_storage()
  var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
  let result = withUnsafeMutablePointer(to: &storage) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
  }
  return (result, result < 0 ? nil : SocketAddress(storage, length: length))
}

/// Turns on TCP keep-alive: after a minute of silence the kernel probes the peer, four times in the next minute. A peer that
/// still exists answers the probes, and the connection goes on; otherwise the kernel ends the connection. Accepted connections
/// inherit the setting from their listener.
func probePeers(of fd: CInt) {
  setSocketOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1)
  setSocketOption(fd, CInt(IPPROTO_TCP), TCP_KEEPIDLE, 60)
  setSocketOption(fd, CInt(IPPROTO_TCP), TCP_KEEPINTVL, 15)
  setSocketOption(fd, CInt(IPPROTO_TCP), TCP_KEEPCNT, 4)
}
