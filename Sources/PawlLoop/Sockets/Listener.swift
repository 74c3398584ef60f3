import CLibevent
import CLinux
import PawlBase

/// A listening socket on one loop.
package final class Listener {
  /// The reason why the listener stopped accepting for a while.
  package enum Trouble: Hashable, Sendable {
    /// Descriptors or socket memory ran out (`EMFILE`, `ENFILE`, `ENOBUFS`, `ENOMEM`). The listener pauses for
    /// ``Listener/pause``.
    case exhausted(CInt)
  }

  /// How long the listener pauses after descriptors or socket memory ran out. New clients wait in the backlog meanwhile.
  package static let pause: Duration = .milliseconds(100)
  /// The most connections that wait in the kernel to be accepted (`listen(2)`).
  package static let backlog: CInt = 1024

  /// Called for each new connection with its socket and the client's address. The function takes over the socket. The socket is
  /// non-blocking and inherits the options of the listener (for TCP `TCP_NODELAY` and keep-alive probes).
  package var onAccept: ((CInt, SocketAddress) -> Void)?
  /// Called once for each pause, for the event log.
  package var onTrouble: ((Trouble) -> Void)?
  /// The address that the listener is bound to. If the listener was made with port 0, this address has the port that the kernel
  /// chose.
  package let boundAddress: SocketAddress
  private let loop: EventLoop
  private var descriptor: CInt
  private var readEvent: UnsafeMutablePointer<event>?
  private var pauseTimer: LoopTimer?
  private var ownedPath: UnixSocketPath?
  private let acceptOne: (CInt) -> Accepted
  private var pace = AcceptPace()

  /// The outcome of one `accept4`.
  enum Accepted { case connection(CInt, SocketAddress), none(CInt) }

  /// Binds and listens. No connection is accepted before ``start()``.
  ///
  /// An IPv6 address accepts IPv6 only (`IPV6_V6ONLY`), so `[::]:80` and `0.0.0.0:80` can be used side by side. The file of a
  /// unix socket on which no process listens any more is replaced.
  /// - Parameters:
  ///   - sharing: whether each loop has a listener of its own on the same TCP address.
  ///   - mode: the permissions of a unix socket's file; `nil`: as the umask says.
  package init(
    address: SocketAddress, loop: EventLoop, sharing: PortSharing = .alone, mode: UInt32? = nil,
    backlog: CInt = Listener.backlog
  ) throws(LoopError) {
    let socket = try bindSocket(address, sharing: sharing, mode: mode)
    guard listen(socket.raw, backlog) == 0 else { throw bindError("listen", address, pawl_errno()) }
    boundAddress = socketAddress(socket.raw, pawl_getsockname) ?? address
    ownedPath = UnixSocketPath(address)
    self.loop = loop
    descriptor = socket.release()
    acceptOne = Listener.acceptSocket
  }

  /// Takes over a socket that listens already. The file of a unix socket that another program has made stays when the listener is
  /// closed, because that program uses it again.
  package init(adopting socket: InheritedSocket, loop: EventLoop) {
    if !socket.address.isUnix { setListenerOptions(socket.descriptor, socket.address) }
    (boundAddress, descriptor, self.loop) = (socket.address, socket.descriptor, loop)
    ownedPath = socket.ownsFile ? UnixSocketPath(socket.address) : nil
    acceptOne = Listener.acceptSocket
  }

  /// Makes a second listener on the same socket, for another loop. Unix sockets are shared in this way, because they have no
  /// `SO_REUSEPORT`. The kernel gives each connection to one of the listeners.
  package convenience init(sharing other: Listener, loop: EventLoop) throws(LoopError) {
    try self.init(sharing: other, loop: loop, acceptOne: Listener.acceptSocket)
  }

  /// Makes a second listener on the same socket, with another function for accepting. For tests.
  init(sharing other: Listener, loop: EventLoop, acceptOne: @escaping (CInt) -> Accepted) throws(LoopError) {
    let copy = pawl_fcntl(other.descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .system(call: "fcntl", code: pawl_errno()) }
    boundAddress = other.boundAddress
    self.loop = loop
    descriptor = copy
    self.acceptOne = acceptOne
  }

  deinit { releaseAll() }

  /// The listener's descriptor; -1 when closed. For tests. The listener stays responsible for closing it.
  var rawDescriptor: CInt { descriptor }

  /// Starts to accept connections. On the loop.
  /// - Throws: ``LoopError/system(call:code:)`` if the kernel cannot watch the socket.
  package func start() throws(LoopError) {
    loop.preconditionOnLoop()
    guard descriptor >= 0 else { return }
    let argument = Unmanaged.passUnretained(self).toOpaque()
    let event = readEvent ?? loop.makeEvent(descriptor, EV_READ | EV_PERSIST, onConnection, argument)
    readEvent = event
    guard event_add(event, nil) == 0 else { throw .system(call: "event_add", code: pawl_errno()) }
  }

  /// Stops to accept connections; they wait in the kernel until ``start()``, or until another process accepts them. On the loop.
  package func pause() {
    loop.preconditionOnLoop()
    if let readEvent { event_del(readEvent) }
    pauseTimer?.close()
    pauseTimer = nil
  }

  /// Leaves the file of a unix socket behind at ``close()``, because another process listens on it. On the loop.
  package func leavePath() { ownedPath = nil }

  /// Whether the file of this unix socket is removed at ``close()``. On the loop.
  package var ownsFile: Bool { ownedPath != nil }

  /// The descriptor, to pass it to another process; -1 when closed. The listener stays responsible for closing it.
  package var passedDescriptor: CInt { descriptor }

  /// Stops listening. Removes the file of a unix socket if the file is still the one that this listener made. On the loop.
  package func close() {
    loop.preconditionOnLoop()
    releaseAll()
    pauseTimer?.close()
    _ = take(&onAccept)
    _ = take(&onTrouble)
  }

  /// Accepts the connections that wait, at most ``backlog`` of them. Called before ``close()``, because the kernel resets the
  /// connections that a closed listener leaves behind. Connections whose client has sent nothing yet are not accepted
  /// (`TCP_DEFER_ACCEPT`). On the loop.
  package func acceptRest() {
    loop.preconditionOnLoop()
    var count = 0
    while count < Listener.backlog, descriptor >= 0 {
      switch acceptOne(descriptor) {
      case .connection(let socket, let peer): admit(socket, peer)
      case .none(let code) where [EAGAIN, EMFILE, ENFILE, ENOBUFS, ENOMEM, EINVAL, EBADF].contains(code): return
      case .none: break
      }
      count += 1
    }
  }

  private func admit(_ socket: CInt, _ peer: SocketAddress) {
    guard let onAccept else {
      CLinux.close(socket)
      return
    }
    if peer.staysOnMachine, !boundAddress.isLoopback { sendUnpaced(socket) }
    onAccept(socket, peer)
  }

  /// Lets further sockets of this process be bound to the port (`SO_REUSEPORT`), also to another address that overlaps with this
  /// one, such as `0.0.0.0`. On the loop.
  package func allowSharing() {
    loop.preconditionOnLoop()
    guard descriptor >= 0, !boundAddress.isUnix else { return }
    setSocketOption(descriptor, SOL_SOCKET, SO_REUSEPORT, 1)
  }

  fileprivate func acceptWaiting() {
    var taken = 0
    while taken < pace.batch, descriptor >= 0 {
      switch acceptOne(descriptor) {
      case .connection(let socket, let peer):
        taken += 1
        admit(socket, peer)
        if loop.isTurnOver { return }
      case .none(EAGAIN): return pace.foundNone(after: taken)
      case .none(let code) where [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code): return rest(code)
      // The client left before its connection was accepted, a signal came, or a network error was pending (accept(2)).
      case .none: taken += 1
      }
    }
    pace.tookAll()
  }

  private func rest(_ code: CInt) {
    guard let readEvent else { return }
    event_del(readEvent)
    let timer = pauseTimer ?? loop.makeTimer { [weak self] in self?.goOn() }
    pauseTimer = timer
    timer.schedule(after: Listener.pause)
    onTrouble?(.exhausted(code))
  }

  private func goOn() {
    guard let readEvent else { return }
    // The event was added before. If the kernel has no memory for it now, it may have some after another pause.
    if event_add(readEvent, nil) != 0 { pauseTimer?.schedule(after: Listener.pause) }
  }

  private func releaseAll() {
    guard descriptor >= 0 else { return }
    let (event, socket) = (readEvent, descriptor)
    (readEvent, descriptor) = (nil, -1)
    ownedPath?.remove()
    ownedPath = nil
    loop.dispose(event, descriptor: socket)
  }

  private static func acceptSocket(_ listener: CInt) -> Accepted {
    let (socket, peer) = withAddressSpace { pawl_accept(listener, $0, $1) }
    guard socket >= 0 else { return .none(pawl_errno()) }
    return .connection(socket, peer ?? SocketAddress(.unix("")))
  }
}

private func onConnection(_: CInt, _: Int16, argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  // Safe: the listener frees the event in close and deinit. The listener is kept alive during its own callback.
  let listener = Unmanaged<Listener>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(listener) { listener.acceptWaiting() }
}
