import CLinux

/// Sets an integer option; what the socket's kind does not have is ignored (`TCP_NODELAY` on a unix socket).
func setSocketOption(_ fd: CInt, _ level: CInt, _ option: CInt, _ value: CInt) {
  var value = value
  setsockopt(fd, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
}

func socketOption(_ fd: CInt, _ level: CInt, _ option: CInt) -> CInt? {
  var value: CInt = 0
  var length = socklen_t(MemoryLayout<CInt>.size)
  return getsockopt(fd, level, option, &value, &length) == 0 ? value : nil
}

/// What stays on this machine goes as fast as it is taken. A congestion control that paces what it sends (bbr, where the
/// system has chosen that) takes a third of the CPU of a large body for its timers, and there is no network to spare. `reno`
/// does not pace, and every kernel has it. A listener's connections inherit it.
func sendUnpaced(_ fd: CInt) {
  _ = "reno".withCString { setsockopt(fd, CInt(IPPROTO_TCP), TCP_CONGESTION, $0, socklen_t(4)) }
}

/// A non-blocking stream socket that no child process inherits; -1 and `errno` on failure.
func openSocket(_ family: CInt) -> CInt {
  let flags = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
  return socket(family, CInt(flags), 0)
}

/// Asks `getsockname` or `getpeername`; `nil` when the socket is not connected any more.
func socketAddress(
  _ fd: CInt, _ ask: (CInt, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> CInt
) -> SocketAddress? {
  withAddressSpace { ask(fd, $0, $1) }.address
}

/// Lends the kernel room for an address and reads what it wrote there.
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

/// Lets the kernel ask a silent peer whether it is there, after a minute, and four times within the next: what is silent for good reason
/// goes on, and what is dead ends. Of a listening socket those that it accepts have it, too.
func probePeers(of fd: CInt) {
  setSocketOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1)
  setSocketOption(fd, CInt(IPPROTO_TCP), TCP_KEEPIDLE, 60)
  setSocketOption(fd, CInt(IPPROTO_TCP), TCP_KEEPINTVL, 15)
  setSocketOption(fd, CInt(IPPROTO_TCP), TCP_KEEPCNT, 4)
}
