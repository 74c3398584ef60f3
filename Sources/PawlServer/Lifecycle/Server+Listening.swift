import CLinux
import PawlConfig
package import PawlLoop

/// The addresses on which the server listens.
extension Server {
  /// The number of event loops.
  static func workers(_ configuration: PawlConfig.Configuration) -> Int {
    configuration.process.workers ?? max(1, Int(sysconf(CInt(_SC_NPROCESSORS_ONLN))))
  }

  /// The addresses, with the ports that the kernel chose.
  package var addresses: [SocketAddress] { bound.withLock { $0.map(\.bound) } }
  /// The addresses as URLs, `https://127.0.0.1:443` for instance.
  package var urls: [String] { bound.withLock { $0.map { "\($0.isSecure ? "https" : "http")://\($0.bound)" } } }

  /// Binds the addresses of a configuration that are not bound yet. Nothing is accepted on them before ``listen(_:endingWith:)``. If
  /// one cannot be bound, none stays bound. Blocking.
  /// - Returns: all listeners of the configuration, in its order.
  func bind(_ plan: ListenerPlan) throws(ServerError) -> [BoundListener] {
    let present = bound.withLock { $0 }
    var all: [BoundListener] = []
    do throws(ServerError) {
      for wanted in plan.wanted {
        if let id = wanted.id, var same = present.first(where: { $0.id == id }) {
          same.settings = wanted.settings
          all.append(same)
        } else {
          all.append(try bind(wanted, plan))
        }
      }
    } catch {
      discard(all.filter { made in !present.contains { $0.id == made.id } })
      throw error
    }
    return all
  }

  /// Binds an address, or takes over sockets that were passed to this process and are bound to it.
  private func bind(_ wanted: ListenerPlan.Wanted, _ plan: ListenerPlan) throws(ServerError) -> BoundListener {
    let id = takeListenerID()
    let passed = try passedSockets(for: wanted.address)
    do throws(ServerError) {
      let bound = try passed.isEmpty ? bindNew(id, wanted, plan) : adopt(passed, id, wanted.address)
      return BoundListener(id: id, configured: wanted.address, bound: bound, settings: wanted.settings)
    } catch {
      discard(id)
      throw error
    }
  }

  /// Binds new sockets; each loop has one of its own (`SO_REUSEPORT`). Fails if another process listens on the address. If the port
  /// is 0, the first loop gets a port from the kernel, and the other loops use the same port. A unix socket has one listener.
  private func bindNew(
    _ id: Int, _ wanted: ListenerPlan.Wanted, _ plan: ListenerPlan
  ) throws(ServerError) -> SocketAddress {
    let text = wanted.address.description
    guard var address = SocketAddress.parse(text) else { throw .address(text, "not an address") }
    let rivals = plan.rivals(of: address)
    allowSharing(rivals)
    let listening = address.isUnix ? loops[..<1] : loops[...]
    let mode = wanted.settings.unixMode?.bits
    for (index, entry) in listening.enumerated() {
      let asked = address
      let sharing: PortSharing =
        !rivals.isEmpty ? .further : listening.count == 1 ? .alone : index == 0 ? .first : .further
      address = try bind(id, wanted.address, on: entry) { loop throws(LoopError) in
        try Listener(address: asked, loop: loop, sharing: sharing, mode: mode)
      }
    }
    return address
  }

  /// Takes over sockets that were passed. Each loop accepts from at least one of them, and each of them is accepted from.
  ///
  /// If one socket serves several loops, the kernel wakes each loop that waits for a new connection, and one of them gets it; the
  /// others find nothing (`EAGAIN`). That costs the others a system call for each new connection. libevent has no
  /// `EPOLLEXCLUSIVE`, which would wake one loop only. With `SO_REUSEPORT`, which pawl uses for addresses that it binds itself,
  /// the kernel chooses one loop.
  private func adopt(
    _ sockets: [InheritedSocket], _ id: Int, _ address: ListenAddress
  ) throws(ServerError) -> SocketAddress {
    let loops = loops
    var bound: SocketAddress?
    for index in 0..<max(sockets.count, loops.count) {
      let given = sockets[index % sockets.count]
      let socket: InheritedSocket
      do throws(LoopError) { socket = try index < sockets.count ? given : given.copied() } catch {
        throw .address(address.description, error.description)
      }
      let taken = try bind(id, address, on: loops[index % loops.count]) { loop throws(LoopError) in
        Listener(adopting: socket, loop: loop)
      }
      bound = bound ?? taken
    }
    guard let bound else { throw .address(address.description, "no socket was passed") }
    return bound
  }

  /// Returns the sockets for an address that were passed to this process, or that it bound before it gave up its privileges.
  /// - Throws: ``ServerError/address(_:_:)`` for the name of a socket that was not passed.
  private func passedSockets(for address: ListenAddress) throws(ServerError) -> [InheritedSocket] {
    // A pawl that hands over names its sockets by their addresses in the configuration, where the port may be 0.
    let handed = inherited.take(named: address.description)
    if case .inherited(let name) = address {
      let sockets = handed.isEmpty ? inherited.take(named: name) : handed
      guard !sockets.isEmpty else {
        throw .address(
          address.description, "no socket of this name was passed to pawl (FileDescriptorName= of the socket unit)")
      }
      return sockets
    }
    guard let wanted = SocketAddress.parse(address.description) else { return handed }
    let name = early.withLock { early in
      early[address]?.isEmpty == false ? early[address]?.removeFirst() : nil
    }
    if let name { return inherited.take(named: name) }
    return handed.isEmpty ? inherited.take(boundTo: wanted) : handed
  }

  private func bind(
    _ id: Int, _ address: ListenAddress, on entry: RunningLoop,
    make: @escaping @Sendable (EventLoop) throws(LoopError) -> Listener
  ) throws(ServerError) -> SocketAddress {
    switch entry.loop.answer({ entry.server.get().bind(id, make) }) {
    case .success(let bound)?: return bound
    case .failure(let error)?: throw .address(address.description, error.description)
    case nil: throw .address(address.description, "the loop ended")
    }
  }

  private func allowSharing(_ listeners: [BoundListener]) {
    let ids = Set(listeners.map(\.id))
    guard !ids.isEmpty else { return }
    for entry in loops { _ = entry.loop.answer { entry.server.get().allowSharing(ids) } }
  }

  /// Closes listeners that ``bind(_:)`` has bound and that are not wanted.
  func discard(_ listeners: [BoundListener]) { for listener in listeners { discard(listener.id) } }
  private func discard(_ id: Int) { for entry in loops { _ = entry.loop.answer { entry.server.get().discard(id) } } }

  /// Accepts on these listeners, with their settings, and ends the others. The settings hold for connections from then on, and for
  /// the next requests on others. Connections of listeners that end go on. Blocking.
  func listen(_ listeners: [BoundListener]) {
    let kept = Set(listeners.map(\.id))
    for entry in loops {
      let settings = listeners.map { listener in
        ServerLoop.Wanted(
          id: listener.id, name: listener.configured.description, settings: listener.settings,
          certificates: certificates.of(listener.settings))
      }
      _ = entry.loop.answer { entry.server.get().listen(settings) }
    }
    bound.withLock { $0 = listeners }
    // The old ones end only when all new ones accept, on every loop.
    for entry in loops { _ = entry.loop.answer { entry.server.get().endListeners(except: kept) } }
  }
}
