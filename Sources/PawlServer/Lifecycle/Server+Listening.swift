import CLinux
import PawlBase
import PawlCertificates
import PawlConfig
import PawlDisk
import PawlLoop

/// Where the listeners come from: pawl binds them, or they are passed to it; and the user that pawl becomes once they are bound.
extension Server {
  /// The number of event loops.
  static func workers(_ configuration: PawlConfig.Configuration) -> Int {
    configuration.process.workers ?? max(1, Int(sysconf(CInt(_SC_NPROCESSORS_ONLN))))
  }

  // MARK: - The user

  /// Becomes the `user` and `group` of the configuration. Before that, binds the addresses, which may need root, and makes the
  /// directories that are missing. Does nothing without these keys.
  /// - Returns: the names by which the bound sockets are taken from `sockets`, by address.
  static func becomeUser(
    _ configuration: PawlConfig.Configuration, binding sockets: InheritedSockets
  ) throws(ServerError) -> [ListenAddress: [String]] {
    let process = configuration.process
    guard process.user != nil || process.group != nil else { return [:] }
    let account: Account
    do throws(Account.Failure) { account = try Account(user: process.user, group: process.group) } catch {
      throw .account(error.description)
    }
    guard !account.isCurrent else { return [:] }
    guard geteuid() == 0 else { throw .account("\(Account.Failure.notRoot(account.name))") }
    let names = try bindAll(configuration, sockets, account)
    try makeDirectories(configuration, account)
    do throws(Account.Failure) { try account.become() } catch { throw .account(error.description) }
    return names
  }

  private static func bindAll(
    _ configuration: PawlConfig.Configuration, _ sockets: InheritedSockets, _ account: Account
  ) throws(ServerError) -> [ListenAddress: [String]] {
    var names: [ListenAddress: [String]] = [:]
    for settings in configuration.listeners {
      for address in settings.addresses {
        guard let wanted = SocketAddress.parse(address.description), !sockets.has(boundTo: wanted) else { continue }
        do throws(LoopError) {
          let name = try sockets.bind(
            wanted, count: workers(configuration), mode: settings.unixMode, owner: (account.user, account.group))
          names[address, default: []].append(name)
        } catch { throw .address(address.description, error.description) }
      }
    }
    return names
  }

  /// Makes the directories that are missing, for the account. Those that exist keep their owner.
  private static func makeDirectories(
    _ configuration: PawlConfig.Configuration, _ account: Account
  ) throws(ServerError) {
    let paths =
      [configuration.process.stateDirectory] + configuration.caches.map(\.path) + configuration.spools.map(\.path)
    for path in paths where !Files.exists(path) {
      // Those above it that are missing, too: they are made with the mode 0700.
      var missing = [path]
      while let last = missing.last, let slash = last.lastIndex(of: "/"), slash > last.startIndex,
        !Files.exists(String(last[..<slash]))
      { missing.append(String(last[..<slash])) }
      do throws(StoreError) { try Files.makeDirectories(path) } catch { throw .storage(path, "\(error)") }
      for each in missing where chown(each, account.user, account.group) != 0 {
        throw .storage(each, "chown: \(String(cString: strerror(pawl_errno())))")
      }
    }
  }

  // MARK: - Listening

  /// Listens on an address: on a socket that was passed to this process and is bound to it, else on new ones.
  func listen(on address: ListenAddress, _ settings: PawlConfig.ListenerSettings) throws(ServerError) {
    if case .inherited(let name) = address {
      let handed = inherited.take(named: address.description)
      let sockets = handed.isEmpty ? inherited.take(named: name) : handed
      guard !sockets.isEmpty else {
        throw .address(
          address.description, "no socket of this name was passed to pawl (FileDescriptorName= of the socket unit)")
      }
      return try adopt(sockets, as: address, settings)
    }
    guard let wanted = SocketAddress.parse(address.description) else {
      throw .address(address.description, "not an address")
    }
    let name = early.withLock { early in
      early[address]?.isEmpty == false ? early[address]?.removeFirst() : nil
    }
    // A pawl that hands over names its sockets by their addresses in the configuration, where the port may be 0.
    let handed = inherited.take(named: address.description)
    let passed = handed.isEmpty ? inherited.take(boundTo: wanted) : handed
    let sockets = name.map { inherited.take(named: $0) } ?? passed
    guard sockets.isEmpty else { return try adopt(sockets, as: address, settings) }
    try bind(wanted, as: address, settings)
  }

  /// Listens on new sockets; each loop has one of its own (`SO_REUSEPORT`). Fails if another process listens on the address. If the
  /// port is 0, the first loop gets a port from the kernel, and the other loops use the same port. A unix socket has one listener.
  private func bind(
    _ wanted: SocketAddress, as address: ListenAddress, _ settings: PawlConfig.ListenerSettings
  ) throws(ServerError) {
    var wanted = wanted
    let listening = wanted.isUnix ? loops[..<1] : loops[...]
    for (index, entry) in listening.enumerated() {
      let asked = wanted
      let sharing: PortSharing = listening.count == 1 ? .alone : index == 0 ? .first : .further
      let mode = settings.unixMode
      wanted = try listen(on: entry, as: address, settings) { loop throws(LoopError) in
        try Listener(address: asked, loop: loop, sharing: sharing, mode: mode)
      }
    }
    noteBound(wanted, settings)
  }

  /// Listens on sockets that were passed. Each loop accepts from at least one of them, and each of them is accepted from.
  ///
  /// If one socket serves several loops, the kernel wakes each loop that waits for a new connection, and one of them gets it; the
  /// others find nothing (`EAGAIN`). That costs the others a system call for each new connection. libevent has no
  /// `EPOLLEXCLUSIVE`, which would wake one loop only. With `SO_REUSEPORT`, which pawl uses for addresses that it binds itself,
  /// the kernel chooses one loop.
  private func adopt(
    _ sockets: [InheritedSocket], as address: ListenAddress, _ settings: PawlConfig.ListenerSettings
  ) throws(ServerError) {
    let loops = loops
    for index in 0..<max(sockets.count, loops.count) {
      let given = sockets[index % sockets.count]
      let socket: InheritedSocket
      do throws(LoopError) { socket = try index < sockets.count ? given : given.copied() } catch {
        throw .address(address.description, error.description)
      }
      _ = try listen(on: loops[index % loops.count], as: address, settings) { loop throws(LoopError) in
        Listener(adopting: socket, loop: loop)
      }
    }
    var known: Set<SocketAddress> = []
    for socket in sockets where known.insert(socket.address).inserted { noteBound(socket.address, settings) }
  }

  private func listen(
    on entry: RunningLoop, as address: ListenAddress, _ settings: PawlConfig.ListenerSettings,
    make: @escaping @Sendable (EventLoop) throws(LoopError) -> Listener
  ) throws(ServerError) -> SocketAddress {
    let certificates = certificates.of(settings)
    let name = address.description
    switch entry.loop.answer({
      entry.server.get().listen(settings, name: name, certificates: certificates, make: make)
    }) {
    case .success(let bound)?: return bound
    case .failure(let error)?: throw .address(address.description, error.description)
    case nil: throw .address(address.description, "the loop ended")
    }
  }

  private func noteBound(_ address: SocketAddress, _ settings: PawlConfig.ListenerSettings) {
    bound.withLock { $0.append((address, certificates.of(settings) != nil)) }
  }
}
