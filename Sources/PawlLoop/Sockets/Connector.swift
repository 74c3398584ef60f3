import CLibevent
import CLinux
import PawlBase

/// The reason why connecting failed.
package enum ConnectError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Nothing listens on the address.
  case refused
  case timedOut
  /// There is no route to the address, or there is no such unix socket. The value is the `errno`.
  case unreachable(CInt)
  /// The process or the system has no descriptor, port or memory left. The value is the `errno`.
  case noDescriptors(CInt)
  case failed(CInt)

  package var description: String {
    switch self {
    case .refused: "connection refused"
    case .timedOut: "no connection in time"
    case .unreachable(let code), .noDescriptors(let code), .failed(let code): errorText(code)
    }
  }

  init(code: CInt) {
    switch code {
    case ECONNREFUSED: self = .refused
    case ETIMEDOUT: self = .timedOut
    case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, ENOENT, EACCES, EPERM, EADDRNOTAVAIL, EAFNOSUPPORT:
      self = .unreachable(code)
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: self = .noDescriptors(code)
    default: self = .failed(code)
    }
  }
}

/// One attempt to connect. The loop keeps the object alive until the attempt is done or cancelled, or until the loop ends.
package final class Connector {
  /// The pause before another attempt when the backlog of a unix socket is full.
  static let retryPause: Duration = .milliseconds(10)
  private let loop: EventLoop
  private let address: SocketAddress
  private var descriptor: CInt = -1
  private var writeEvent: UnsafeMutablePointer<event>?
  private var timer: LoopTimer?
  private var retryTimer: LoopTimer?
  private var completion: ((Result<SocketStream, ConnectError>) -> Void)?

  /// Connects to `address` within `timeout`. On the loop. `completion` is called once, on the loop, after this function has
  /// returned, and not after ``cancel()``.
  /// - Parameter receiveBuffer: `SO_RCVBUF` in bytes, set before the handshake; `nil`: the kernel decides.
  @discardableResult
  package static func connect(
    to address: SocketAddress, loop: EventLoop, timeout: Duration, receiveBuffer: Int? = nil,
    completion: @escaping (Result<SocketStream, ConnectError>) -> Void
  ) -> Connector {
    loop.preconditionOnLoop()
    let connector = Connector(address, loop, completion)
    loop.hold(connector)
    connector.begin(timeout, receiveBuffer)
    return connector
  }

  private init(
    _ address: SocketAddress, _ loop: EventLoop, _ completion: @escaping (Result<SocketStream, ConnectError>) -> Void
  ) {
    (self.address, self.loop, self.completion) = (address, loop, completion)
  }

  deinit { releaseAll() }

  /// Gives up. `completion` is not called any more, and is released.
  package func cancel() {
    loop.preconditionOnLoop()
    let dropped = take(&completion)
    releaseAll()
    loop.letGo(self)
    withExtendedLifetime(dropped) {}
  }

  private func begin(_ timeout: Duration, _ receiveBuffer: Int?) {
    descriptor = openSocket(address.family)
    guard descriptor >= 0 else { return finishLater(pawl_errno()) }
    if address.staysOnMachine { sendUnpaced(descriptor) }
    if let receiveBuffer { setSocketOption(descriptor, SOL_SOCKET, SO_RCVBUF, CInt(clamping: receiveBuffer)) }
    let timer = loop.makeTimer { [weak self] in self?.finish(ETIMEDOUT) }
    self.timer = timer
    timer.schedule(after: timeout)
    dial()
  }

  private func dial() {
    let code = address.withSockaddr { pawl_connect(descriptor, $0, $1) } == 0 ? 0 : pawl_errno()
    // A unix socket with a full backlog fails at once with `EAGAIN` instead of waiting (connect(2)).
    if code == EAGAIN, address.isUnix { return dialLater() }
    guard code == EINPROGRESS || code == EINTR else { return finishLater(code) }
    let event = loop.makeEvent(descriptor, EV_WRITE, onConnected, Unmanaged.passUnretained(self).toOpaque())
    writeEvent = event
    guard event_add(event, nil) == 0 else { return finishLater(pawl_errno()) }
  }

  private func dialLater() {
    let timer = retryTimer ?? loop.makeTimer { [weak self] in self?.dial() }
    retryTimer = timer
    timer.schedule(after: Connector.retryPause)
  }

  private func finishLater(_ code: CInt) { loop.nextTurn { self.finish(code) } }

  fileprivate func becameWritable() {
    finish(socketOption(descriptor, SOL_SOCKET, SO_ERROR) ?? pawl_errno())
  }

  private func finish(_ code: CInt) {
    guard let completion else { return }
    self.completion = nil
    // A connection to a free port of this machine's ephemeral range can connect to itself (simultaneous open). In that case
    // nothing listens on the port.
    let code = code == 0 && hasMetItself ? ECONNREFUSED : code
    var socket: CInt = -1
    if code == 0 { swap(&socket, &descriptor) }
    releaseAll()
    loop.letGo(self)
    if code == 0 {
      completion(.success(SocketStream(adopting: socket, loop: loop, peer: address)))
    } else {
      completion(.failure(ConnectError(code: code)))
    }
  }

  private var hasMetItself: Bool {
    address.isLoopback && !address.isUnix && socketAddress(descriptor, pawl_getsockname) == address
  }

  /// Frees the event before the socket is closed or passed on, because the socket must have left epoll by then.
  private func releaseAll() {
    let (event, socket) = (writeEvent, descriptor)
    (writeEvent, descriptor) = (nil, -1)
    if event != nil || socket >= 0 { loop.dispose(event, descriptor: socket) }
    (timer, retryTimer) = (nil, nil)
  }
}

private func onConnected(_: CInt, _: Int16, argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  // Safe: the connector frees the event before it ends. The connector is kept alive during its own callback.
  let connector = Unmanaged<Connector>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(connector) { connector.becameWritable() }
}
