import PawlHTTP
import PawlLoop
import PawlTLS

/// Makes one new connection: tries URL after URL and address after address until an address accepts the connection and, over TLS,
/// has a valid certificate. No byte of a request is sent meanwhile, so the next address may always be tried.
final class OriginDial {
  /// How long a connection that was made by name may be reused. It is limited because the name may get another address.
  private static let nameLifetime = Duration.seconds(30)
  /// The least time for one address while more addresses follow; it is shorter only if less is left of the connect timeout.
  private static let shortestTry = Duration.seconds(2)

  private let upstream: Upstream
  private let loop: EventLoop
  private var urls: ArraySlice<Int>
  private var addresses: ArraySlice<SocketAddress> = []
  /// The address that was tried last; `nil`: none was.
  private(set) var lastAddress: SocketAddress?
  private var deadline = Monotonic(nanoseconds: 0)
  private var connector: Connector?
  private var handshake: OriginHandshake?
  private var lastError = ProxyError(.destinationUnavailable)
  private var completion: ((Result<OriginConnection, ProxyError>) -> Void)?
  /// Whether a failed connection attempt counts against the node, which then rests (is taken as down). `false` for health checks.
  private let tells: Bool
  /// The identifier of the request for which the connection is made, for the log.
  private let requestID: [UInt8]

  init(
    upstream: Upstream, loop: EventLoop, urls: [Int], tells: Bool = true, requestID: [UInt8] = [],
    completion: @escaping (Result<OriginConnection, ProxyError>) -> Void
  ) {
    (self.upstream, self.loop, self.urls, self.completion) = (upstream, loop, urls[...], completion)
    (self.tells, self.requestID) = (tells, requestID)
  }

  /// Begins to connect. The completion may be called before this returns.
  func start() { tryNextURL() }

  /// Stops connecting. The completion is not called any more.
  func cancel() {
    completion = nil
    connector?.cancel()
    handshake?.cancel()
    (connector, handshake) = (nil, nil)
  }

  private func tryNextURL() {
    guard completion != nil else { return }
    guard let index = urls.first else { return finish(.failure(lastError)) }
    let url = upstream.settings.urls[index]
    deadline = loop.now.advanced(by: upstream.settings.connectTimeout)
    if url.isUnix {
      guard let address = SocketAddress.unix(path: url.host) else {
        return urlFailed(ProxyError(.proxyConfigurationError, details: "unix:\(url.host) is no socket path"))
      }
      addresses = [address]
      return tryNextAddress()
    }
    upstream.resolver.resolve(host: url.host, port: url.port, on: loop) { [self] result in
      guard completion != nil, urls.first == index else { return }
      switch result {
      case .success(let found):
        addresses = found[...]
        lastError = ProxyError(.dnsError, details: "\(url.host) has no address")
        tryNextAddress()
      case .failure(let error): urlFailed(ProxyError(error, host: url.host))
      }
    }
  }

  private func tryNextAddress() {
    guard completion != nil else { return }
    guard let address = addresses.first else { return urlFailed(lastError) }
    let left = deadline - loop.now
    guard left > .zero else {
      return urlFailed(ProxyError(.connectionTimeout, details: "\(address): not within the connect timeout"))
    }
    lastAddress = address
    let share = max(left / addresses.count, min(left, Self.shortestTry))
    let end = loop.now.advanced(by: share)
    connector = Connector.connect(to: address, loop: loop, timeout: share) { [self] result in
      connector = nil
      switch result {
      case .success(let stream): secure(stream, address, until: end)
      case .failure(let error): addressFailed(ProxyError(error, address: address))
      }
    }
  }

  private func addressFailed(_ error: ProxyError) {
    lastError = error
    addresses = addresses.dropFirst()
    if !addresses.isEmpty { tell(error, .triesNextAddress) }
    tryNextAddress()
  }

  /// Does the TLS handshake of an `https` URL. At `end` the address has used up its share of the connect timeout.
  private func secure(_ stream: SocketStream, _ address: SocketAddress, until end: Monotonic) {
    guard completion != nil, let index = urls.first else { return stream.close() }
    guard let name = upstream.settings.urls[index].serverName else { return connected(stream, address) }
    guard let context = upstream.tls else {
      stream.close()
      return urlFailed(ProxyError(.proxyConfigurationError, details: "no certificates for https"))
    }
    let handshake = OriginHandshake(
      stream, engine: context.makeEngine(serverName: name, place: "\(address)"), address: address
    ) { [self] result in
      self.handshake = nil
      switch result {
      case .success(let stream): connected(stream, address)
      case .failure(let error):
        upstream.handshakeFailed(error)
        addressFailed(error)
      }
    }
    self.handshake = handshake
    handshake.start(timeout: max(end - loop.now, Duration.zero))
  }

  private func connected(_ stream: SocketStream, _ address: SocketAddress) {
    guard completion != nil, let index = urls.first else { return stream.close() }
    let url = upstream.settings.urls[index]
    let isNamed = !url.isUnix && SocketAddress.literal(url.host, port: url.port) == nil
    let usableUntil = isNamed ? loop.now.advanced(by: Self.nameLifetime) : nil
    finish(.success(OriginConnection(stream: stream, url: index, usableUntil: usableUntil, peer: address)))
  }

  private func urlFailed(_ error: ProxyError) {
    guard let index = urls.popFirst() else { return }
    lastError = error
    // A lack of descriptors in pawl is no failure of the origin.
    if tells, error.kind != .proxyInternalError { upstream.failed(index, error, at: loop.now) }
    // The last failure is that of the exchange, which knows what is done about it.
    if !urls.isEmpty { tell(error, .triesNextNode, at: index) }
    tryNextURL()
  }

  private func tell(_ error: ProxyError, _ next: OriginTrouble.Next, at index: Int? = nil) {
    guard tells, completion != nil, let index = index ?? urls.first else { return }
    upstream.tell(OriginTrouble(error, url: index, requestID: requestID, next: next))
  }

  private func finish(_ result: Result<OriginConnection, ProxyError>) {
    let heir = completion
    completion = nil
    heir?(result)
  }
}

extension ProxyError {
  fileprivate init(_ error: ConnectError, address: SocketAddress) {
    let kind: Kind =
      switch error {
      case .refused: .connectionRefused
      case .timedOut: .connectionTimeout
      case .unreachable: .destinationIPUnroutable
      case .noDescriptors: .proxyInternalError
      case .failed: .destinationUnavailable
      }
    self.init(kind, details: "\(address): \(error)")
  }

  fileprivate init(_ error: ResolveError, host: String) {
    self.init(error == .temporary ? .dnsTimeout : .dnsError, details: "\(host): \(error)")
  }
}
