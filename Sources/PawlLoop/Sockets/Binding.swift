import CLinux

/// Who else may listen on a TCP address (`SO_REUSEPORT`): the loops of one process do, each with a socket of its own.
package enum PortSharing: Sendable {
  case alone
  /// The first of several: fails where anybody else listens on the address, and lets those in that come after it.
  case first
  /// Comes after the first, in the same process. The kernel lets in any process of the same user that asks so.
  case further
}

/// Seconds for which the kernel keeps a connection whose client has said nothing yet (`TCP_DEFER_ACCEPT`): until then it is no
/// connection to us, and its first bytes can be read as soon as it is accepted. It comes all the same after them, by the next
/// SYN-ACK that the kernel sends.
private let acceptsSilentAfter: CInt = 1

/// Opens a socket and binds it to the address.
func bindSocket(_ address: SocketAddress, sharing: PortSharing = .alone) throws(LoopError) -> OwnedDescriptor {
  let raw = openSocket(address.family)
  guard raw >= 0 else { throw .system(call: "socket", code: pawl_errno()) }
  let socket = OwnedDescriptor(adopting: raw)
  if !address.isUnix {
    setSocketOption(raw, SOL_SOCKET, SO_REUSEADDR, 1)
    probePeers(of: raw)
    setSocketOption(raw, CInt(IPPROTO_TCP), TCP_NODELAY, 1)
    setSocketOption(raw, CInt(IPPROTO_TCP), TCP_DEFER_ACCEPT, acceptsSilentAfter)
    if sharing == .further { setSocketOption(raw, SOL_SOCKET, SO_REUSEPORT, 1) }
    if address.staysOnMachine { sendUnpaced(raw) }
    if address.isIPv6 { setSocketOption(raw, CInt(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
  }
  var code = bindOnce(raw, address)
  if code == EADDRINUSE, removeStaleSocket(address) { code = bindOnce(raw, address) }
  guard code == 0 else { throw bindError("bind", address, code) }
  // Only now: set before, it would let two processes bind, and each gets a part of the connections.
  if sharing == .first, !address.isUnix { setSocketOption(raw, SOL_SOCKET, SO_REUSEPORT, 1) }
  return socket
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

/// Unlinks a unix socket's file that nobody listens on. `false` where somebody does, or where it is no socket.
private func removeStaleSocket(_ address: SocketAddress) -> Bool {
  guard let path = UnixSocketPath(address) else { return false }
  let probe = openSocket(AF_UNIX)
  guard probe >= 0 else { return false }
  defer { close(probe) }
  let isDeserted = address.withSockaddr { pawl_connect(probe, $0, $1) } != 0 && pawl_errno() == ECONNREFUSED
  return isDeserted && path.remove()
}

/// A unix socket's file, known by its inode: what another process put there meanwhile is left alone.
struct UnixSocketPath {
  private let path: String
  private let device: dev_t
  private let inode: ino_t

  /// `nil` for other addresses, abstract names, and where no socket's file is.
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
