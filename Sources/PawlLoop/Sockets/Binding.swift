import CLinux

/// Whether a TCP address is shared (`SO_REUSEPORT`): the loops of one process share it, each with a socket of its own.
package enum PortSharing: Sendable {
  case alone
  /// The first of several sockets. Binding fails if any other socket listens on the address. Later sockets may share the
  /// address.
  case first
  /// A further socket of the same process. The kernel also allows sockets of other processes of the same user, if these set
  /// `SO_REUSEPORT`.
  case further
}

/// How many seconds the kernel holds back a connection whose client has sent nothing yet (`TCP_DEFER_ACCEPT`). During this time a
/// connection is accepted only when its first bytes have come, so they can be read at once. After this time the kernel sends its
/// SYN-ACK again, and accepts the connection when the client acknowledges it, even without content.
private let acceptsSilentAfter: CInt = 1

/// Opens a socket and binds it to the address.
/// - Parameter mode: the permissions of a unix socket's file; `nil`: as the umask says. The file never has more of them, not even
///   for a moment: the kernel gives it those of the socket (unix(7)), and only then those that the umask took are added.
func bindSocket(
  _ address: SocketAddress, sharing: PortSharing = .alone, mode: UInt32? = nil
) throws(LoopError) -> OwnedDescriptor {
  let raw = openSocket(address.family)
  guard raw >= 0 else { throw .system(call: "socket", code: pawl_errno()) }
  let socket = OwnedDescriptor(adopting: raw)
  if let mode, address.isUnix, fchmod(raw, mode) != 0 { throw .system(call: "fchmod", code: pawl_errno()) }
  if !address.isUnix {
    setSocketOption(raw, SOL_SOCKET, SO_REUSEADDR, 1)
    setListenerOptions(raw, address)
    if sharing == .further { setSocketOption(raw, SOL_SOCKET, SO_REUSEPORT, 1) }
    if address.isIPv6 { setSocketOption(raw, CInt(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
  }
  var code = bindOnce(raw, address)
  if code == EADDRINUSE, removeStaleSocket(address) { code = bindOnce(raw, address) }
  guard code == 0 else { throw bindError("bind", address, code) }
  if let mode, let path = address.unixPath, !path.hasPrefix("@"), chmod(path, mode) != 0 {
    throw .system(call: "chmod", code: pawl_errno())
  }
  // The option is set only after the bind. If it were set earlier, two processes could bind the address, and each would get a
  // part of the connections.
  if sharing == .first, !address.isUnix { setSocketOption(raw, SOL_SOCKET, SO_REUSEPORT, 1) }
  return socket
}

/// Sets the options of a TCP listener that the accepted connections inherit. They may be set before or after the bind.
func setListenerOptions(_ raw: CInt, _ address: SocketAddress) {
  probePeers(of: raw)
  setSocketOption(raw, CInt(IPPROTO_TCP), TCP_NODELAY, 1)
  setSocketOption(raw, CInt(IPPROTO_TCP), TCP_DEFER_ACCEPT, acceptsSilentAfter)
  if address.staysOnMachine { sendUnpaced(raw) }
}

private func bindOnce(_ socket: CInt, _ address: SocketAddress) -> CInt {
  address.withSockaddr { pawl_bind(socket, $0, $1) } == 0 ? 0 : pawl_errno()
}

func bindError(_ call: String, _ address: SocketAddress, _ code: CInt) -> LoopError {
  switch code {
  case EADDRINUSE: .addressInUse(address)
  case EADDRNOTAVAIL: .addressNotAvailable(address)
  case EACCES, EPERM: .notPermitted(address)
  default: .system(call: "\(call) \(address)", code: code)
  }
}

/// Removes the file of a unix socket on which no process listens.
/// - Returns: `false` if a process listens on the socket, or if the file is no socket.
private func removeStaleSocket(_ address: SocketAddress) -> Bool {
  guard let path = UnixSocketPath(address) else { return false }
  let probe = openSocket(AF_UNIX)
  guard probe >= 0 else { return false }
  defer { close(probe) }
  let isDeserted = address.withSockaddr { pawl_connect(probe, $0, $1) } != 0 && pawl_errno() == ECONNREFUSED
  return isDeserted && path.remove()
}

/// The file of a unix socket, identified by its inode. So a file that another process has put in its place is not removed.
struct UnixSocketPath {
  private let path: String
  private let device: dev_t
  private let inode: ino_t

  /// Fails for addresses that are not unix paths, for abstract names, and if there is no socket at the path.
  init?(_ address: SocketAddress) {
    guard let path = address.unixPath, !path.hasPrefix("@") else { return nil }
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & UInt32(S_IFMT) == UInt32(S_IFSOCK) else { return nil }
    (self.path, device, inode) = (path, status.st_dev, status.st_ino)
  }

  @discardableResult
  func remove() -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return false }
    return unlink(path) == 0
  }
}
