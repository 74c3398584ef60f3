import CLibevent
import CLinux
import PawlBase

/// A listening socket on one loop.
package final class Listener {
  /// What kept the listener from accepting for a while.
  package enum Trouble: Hashable, Sendable {
    /// Out of descriptors or socket memory (`EMFILE`, `ENFILE`, `ENOBUFS`, `ENOMEM`): paused for ``Listener/pause``.
    case exhausted(CInt)
  }

  /// How long no connection is taken after the process ran out of descriptors; clients wait in the backlog meanwhile.
  package static let pause: Duration = .milliseconds(100)

  /// Takes over each new connection: a non-blocking socket that has the listener's options (for TCP `TCP_NODELAY`, and probes of
  /// its peer), which it inherits, and where it comes from.
  package var onAccept: ((CInt, SocketAddress) -> Void)?
  /// Told once per pause, for the event log.
  package var onTrouble: ((Trouble) -> Void)?
  /// Where it really listens: with the port that the kernel chose for port 0.
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

  /// Binds and listens; nothing is accepted before ``start()``.
  ///
  /// An IPv6 address takes IPv6 alone (`IPV6_V6ONLY`): `[::]:80` and `0.0.0.0:80` can stand side by side. A unix
  /// socket's file that nobody listens on any more is replaced.
  /// - Parameter sharing: lets each loop have a listener of its own on the same TCP address.
  package init(
    address: SocketAddress, loop: EventLoop, sharing: PortSharing = .alone, backlog: CInt = 1024
  ) throws(LoopError) {
    let socket = try bindSocket(address, sharing: sharing)
    guard listen(socket.raw, backlog) == 0 else { throw bindError("listen", address, pawl_errno()) }
    boundAddress = socketAddress(socket.raw, pawl_getsockname) ?? address
    ownedPath = UnixSocketPath(address)
    self.loop = loop
    descriptor = socket.release()
    acceptOne = Listener.acceptSocket
  }

  /// A second listener on the same socket, for another loop: the way to share a unix socket, which has no
  /// `SO_REUSEPORT`. Each connection goes to one of them.
  package convenience init(sharing other: Listener, loop: EventLoop) throws(LoopError) {
    try self.init(sharing: other, loop: loop, acceptOne: Listener.acceptSocket)
  }

  /// For tests: with another way to accept.
  init(sharing other: Listener, loop: EventLoop, acceptOne: @escaping (CInt) -> Accepted) throws(LoopError) {
    let copy = pawl_fcntl(other.descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .system(call: "fcntl", code: pawl_errno()) }
    boundAddress = other.boundAddress
    self.loop = loop
    descriptor = copy
    self.acceptOne = acceptOne
  }

  deinit { releaseAll() }

  /// For tests; -1 when closed. Stays the listener's own.
  var rawDescriptor: CInt { descriptor }

  /// Accepts from now on. On the loop.
  /// - Throws: ``LoopError/system(call:code:)`` when the kernel cannot watch the socket.
  package func start() throws(LoopError) {
    loop.preconditionOnLoop()
    guard descriptor >= 0 else { return }
    let argument = Unmanaged.passUnretained(self).toOpaque()
    let event = readEvent ?? loop.makeEvent(descriptor, EV_READ | EV_PERSIST, onConnection, argument)
    readEvent = event
    guard event_add(event, nil) == 0 else { throw .system(call: "event_add", code: pawl_errno()) }
  }

  /// Stops listening; a unix socket's file is removed when it is still this listener's. On the loop.
  package func close() {
    loop.preconditionOnLoop()
    releaseAll()
    pauseTimer?.close()
    _ = take(&onAccept)
    _ = take(&onTrouble)
  }

  fileprivate func acceptWaiting() {
    var taken = 0
    while taken < pace.batch, descriptor >= 0 {
      switch acceptOne(descriptor) {
      case .connection(let socket, let peer):
        taken += 1
        guard let onAccept else {
          CLinux.close(socket)
          continue
        }
        if peer.staysOnMachine, !boundAddress.isLoopback { sendUnpaced(socket) }
        onAccept(socket, peer)
        if loop.isTurnOver { return }
      case .none(EAGAIN): return pace.foundNone(after: taken)
      case .none(let code) where [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code): return rest(code)
      // The client left before it was accepted, a signal came, or the network had something to report (accept(2)).
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
    // The event was added before; if the kernel has no memory for it now, it may have some after another pause.
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
  // Safe: the listener frees the event in close and deinit; it is kept alive through its own callback.
  let listener = Unmanaged<Listener>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(listener) { listener.acceptWaiting() }
}
