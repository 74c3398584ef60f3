import CLinux

/// Tries whether an address can be listened on.
package enum ListenTrial {
  /// Binds a TCP address and closes the socket again; returns why that fails, `nil` if it does not. Of a unix socket only the path
  /// is looked at, because binding would make a file.
  package static func failure(_ address: SocketAddress) -> LoopError? {
    if let path = address.unixPath, !path.hasPrefix("@") {
      return isTaken(path, address) ? .addressInUse(address) : nil
    }
    do throws(LoopError) {
      _ = try bindSocket(address)
      return nil
    } catch { return error }
  }

  /// Whether the address is one of this machine: whether some port of it can be bound.
  package static func isOfThisMachine(_ address: SocketAddress) -> Bool {
    do throws(LoopError) {
      _ = try bindSocket(address.withPort(0))
      return true
    } catch { return false }
  }

  /// Whether something is at the path that binding would not replace: a socket on which a process listens, or another file.
  private static func isTaken(_ path: String, _ address: SocketAddress) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0 else { return false }
    guard status.st_mode & UInt32(S_IFMT) == UInt32(S_IFSOCK) else { return true }
    let probe = openSocket(AF_UNIX)
    guard probe >= 0 else { return false }
    defer { close(probe) }
    return address.withSockaddr { pawl_connect(probe, $0, $1) } == 0 || pawl_errno() != ECONNREFUSED
  }
}
