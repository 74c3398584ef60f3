package import CLinux
import PawlBase

/// A listening socket that another program has bound, or pawl itself before it gave up its privileges.
package struct InheritedSocket: Hashable, Sendable {
  /// Whoever takes the socket closes the descriptor.
  package let descriptor: CInt
  /// The name in `LISTEN_FDNAMES`; empty without one.
  package let name: String
  /// Its place among the passed sockets, from 0; `nil`: pawl itself has bound it.
  let number: Int?
  package let address: SocketAddress
  /// Whether pawl has made the file of this unix socket, and so removes it at the end. The files of other programs stay.
  var ownsFile = false

  /// Makes a second descriptor of the socket, for another loop.
  /// - Throws: ``LoopError/system(call:code:)`` if there is no free descriptor.
  package func copied() throws(LoopError) -> InheritedSocket {
    let copy = pawl_fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .system(call: "fcntl", code: pawl_errno()) }
    return InheritedSocket(descriptor: copy, name: name, number: number, address: address)
  }
}

/// The listening sockets that this process was started with (`sd_listen_fds(3)`). Each one is taken once, by its name or by its
/// address.
package final class InheritedSockets: Sendable {
  private let waiting = Locked<[InheritedSocket]>([])
  private let unusable = Locked<[String]>([])

  /// The number of the first descriptor that systemd passes (`SD_LISTEN_FDS_START`).
  package static let first: CInt = 3
  /// The most descriptors that are looked at, so that a wrong `LISTEN_FDS` does not close everything.
  static let most = 1024

  package init() {}

  /// Takes over the descriptors `first` and further ones. Descriptors that are no listening stream sockets are closed.
  /// - Parameter owned: the numbers of the unix sockets whose files pawl owns.
  init(count: Int, names: [String], first: CInt = InheritedSockets.first, owned: Set<Int> = []) {
    for index in 0..<min(max(0, count), Self.most) {
      let descriptor = first + CInt(index)
      adopt(
        descriptor, name: index < names.count ? names[index] : "", number: index, ownsFile: owned.contains(index))
    }
  }

  /// Takes over what another pawl hands over.
  /// - Parameter list: the names, one a line; ``ownedMark`` after the name of a unix socket whose file this pawl now owns.
  convenience init(handed list: String, first: CInt = InheritedSockets.first) {
    let lines = list.split(separator: "\n")
    let owned = Set(
      lines.indices.filter { lines[$0].hasSuffix(Self.ownedMark) }.map { lines.distance(from: 0, to: $0) })
    self.init(
      count: lines.count, names: lines.map { String($0.hasSuffix(Self.ownedMark) ? $0.dropLast() : $0) }, first: first,
      owned: owned)
  }

  /// Ends a name in the list of a pawl that hands over its sockets. No address has this character.
  package static let ownedMark = "\t"

  /// Takes over what the environment names: `LISTEN_FDS`, `LISTEN_PID`, `LISTEN_FDNAMES`. The variables are removed, because a
  /// program that pawl starts must not take them as its own.
  package static func fromEnvironment() -> InheritedSockets {
    func value(_ name: String) -> String? {
      defer { unsetenv(name) }
      return getenv(name).map { String(cString: $0) }
    }
    let (count, pid, names) = (value("LISTEN_FDS"), value("LISTEN_PID"), value("LISTEN_FDNAMES"))
    if let handed = value(Successor.socketNames) {
      return InheritedSockets(handed: handed)
    }
    guard let count = count.flatMap(Int.init), pid.flatMap(pid_t.init) == getpid() else { return InheritedSockets() }
    let parts = names?.split(separator: ":", omittingEmptySubsequences: false).map(String.init) ?? []
    return InheritedSockets(count: count, names: parts)
  }

  private func adopt(_ descriptor: CInt, name: String, number: Int, ownsFile: Bool) {
    let isListening =
      socketOption(descriptor, SOL_SOCKET, SO_TYPE) == CInt(SOCK_STREAM.rawValue)
      && socketOption(descriptor, SOL_SOCKET, SO_ACCEPTCONN) == 1
    guard isListening, let address = socketAddress(descriptor, pawl_getsockname) else {
      unusable.withLock { $0.append("descriptor \(descriptor) \(name): not a listening stream socket") }
      close(descriptor)
      return
    }
    _ = pawl_fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = pawl_fcntl(descriptor, F_SETFL, pawl_fcntl(descriptor, F_GETFL, 0) | O_NONBLOCK)
    add(
      InheritedSocket(descriptor: descriptor, name: name, number: number, address: address, ownsFile: ownsFile))
  }

  private func add(_ socket: InheritedSocket) { waiting.withLock { $0.append(socket) } }

  /// Binds an address and listens on it before it is known which loop takes the socket: pawl does this before it gives up its
  /// privileges. If the port is 0, all sockets get the port that the kernel chose for the first one.
  /// - Parameters:
  ///   - count: the number of sockets for a TCP address (`SO_REUSEPORT`). A unix socket has one.
  ///   - owner: who gets the file of a unix socket.
  /// - Returns: the name by which the sockets are taken.
  package func bind(
    _ address: SocketAddress, count: Int, mode: mode_t?, owner: (user: uid_t, group: gid_t)
  ) throws(LoopError) -> String {
    let name = "bound \(address) \(waiting.withLock { $0.count })"
    var wanted = address
    for index in 0..<(address.isUnix ? 1 : max(1, count)) {
      let sharing: PortSharing = address.isUnix || count <= 1 ? .alone : index == 0 ? .first : .further
      let socket = try bindSocket(wanted, sharing: sharing, mode: mode)
      guard listen(socket.raw, Listener.backlog) == 0 else { throw bindError("listen", wanted, pawl_errno()) }
      wanted = socketAddress(socket.raw, pawl_getsockname) ?? wanted
      if let path = address.unixPath, !path.hasPrefix("@") { _ = lchown(path, owner.user, owner.group) }
      add(InheritedSocket(descriptor: socket.release(), name: name, number: nil, address: wanted, ownsFile: true))
    }
    return name
  }

  /// Takes all sockets with this name; if there are none, the socket with this number, from 0.
  package func take(named name: String) -> [InheritedSocket] {
    let named = take { $0.name == name }
    return named.isEmpty ? take { $0.number.map(String.init) == name } : named
  }

  /// Takes all sockets that are bound to this address. Port 0 is the port of no socket.
  package func take(boundTo address: SocketAddress) -> [InheritedSocket] { take { $0.address == address } }

  /// Whether a socket that waits to be taken is bound to this address.
  package func has(boundTo address: SocketAddress) -> Bool {
    waiting.withLock { $0.contains { $0.address == address } }
  }

  private func take(_ isWanted: (InheritedSocket) -> Bool) -> [InheritedSocket] {
    waiting.withLock { waiting in
      let taken = waiting.filter(isWanted)
      waiting.removeAll(where: isWanted)
      return taken
    }
  }

  /// Closes the sockets that were not taken, so that no client waits for an answer there.
  /// - Returns: what was closed, for the log.
  package func closeUnused() -> [String] {
    let left = take { _ in true }
    for socket in left { close(socket.descriptor) }
    let closed = unusable.withLock { unusable in
      defer { unusable = [] }
      return unusable
    }
    return closed + left.map { $0.name.isEmpty ? "\($0.address)" : "\($0.name) \($0.address)" }
  }
}
