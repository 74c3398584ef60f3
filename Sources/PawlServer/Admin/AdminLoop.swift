import PawlBase
import PawlCertificates
import PawlConfig
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream

/// The admin interface on its loop: accepts connections, and makes an ``AdminExchange`` for each request. Touched on that loop only.
final class AdminLoop {
  let services: LoopServices
  let actions: any AdminActions
  private(set) var guardian: AdminGuard
  private(set) lazy var feed = TransferFeed(on: services.loop) { [actions] in actions.transferSources }
  private let downloads: LoopDownloads
  private(set) lazy var clients = AdminClients(downloads, dispatch: self)
  private(set) lazy var logLevel = AdminLogLevel(services.events, loop: services.loop)
  private var listeners: [ListenAddress: ListenerOnLoop] = [:]
  /// The addresses of ``listeners``, for other threads.
  private let bound: Locked<[ListenAddress: SocketAddress]>
  /// The addresses that the process before this one has, and that are tried again.
  private var awaited: Set<ListenAddress> = []
  private var watched: Certificates?

  init(
    _ settings: AdminSettings, loop: EventLoop, shared: SharedServices, actions: any AdminActions,
    bound: Locked<[ListenAddress: SocketAddress]>
  ) {
    (self.actions, self.bound) = (actions, bound)
    guardian = AdminGuard(settings)
    services = LoopServices(loop: loop, shared: shared, router: Self.router)
    services.accessLog = nil
    services.explainsRequests = false
    downloads = LoopDownloads(services, abandoned: AbandonedFillLimiter())
  }

  /// Routing for a loop that answers everything itself: one route, without a cache, that no request goes out by.
  private static var router: Router {
    let nowhere = Upstream(
      UpstreamSettings(name: "-", urls: [UpstreamURL(host: "localhost", port: 0)]), resolver: Resolver())
    let route = RouteSettings(
      name: "admin", settings: SiteSettings(), upstream: nowhere, configuration: UpstreamSection(name: "-"), cache: nil)
    return Router(sites: [Router.Site(hosts: [], settings: route, routes: [])])
  }

  // MARK: - Listening

  /// Listens on an address.
  func listen(
    on address: ListenAddress, _ settings: AdminSettings, certificates: ListenerCertificates?
  ) -> Result<SocketAddress, LoopError> {
    guard let wanted = SocketAddress.parse(address.description) else {
      return .failure(.system(call: "bind \(address)", code: AdminServer.tooLong))
    }
    return Result { () throws(LoopError) in
      let listener = try Listener(
        address: wanted, loop: services.loop, mode: wanted.isUnix ? settings.mode.bits : nil, backlog: 64)
      let entry = ListenerOnLoop(
        listener, id: 0, name: address.description, settings: Self.connectionSettings(settings, wanted),
        certificates: wanted.isUnix ? nil : certificates)
      entry.whenAccepted { [unowned self] descriptor, peer, entry in
        accepted(descriptor, from: peer, on: entry)
      } trouble: { [unowned self] in
        services.shared.failures.noteAccept("\($0)")
      }
      listeners[address] = entry
      try entry.start()
      let actual = listener.boundAddress
      bound.withLock { $0[address] = actual }
      return actual
    }
  }

  /// Listens on an address as soon as the process before this one has left it.
  func listenLater(on address: ListenAddress, _ settings: AdminSettings, certificates: ListenerCertificates?) {
    awaited.insert(address)
    services.perform(after: AdminServer.retryPause) { [unowned self] in
      guard !services.isEnding, awaited.remove(address) != nil, listeners[address] == nil else { return }
      if case .failure = listen(on: address, settings, certificates: certificates) {
        listenLater(on: address, settings, certificates: certificates)
      }
    }
  }

  /// Looks at the files of the certificates at intervals, in the pool.
  func watch(_ certificates: Certificates) {
    watched = certificates
    services.perform(after: Certificates.interval) { [unowned self] in
      services.pool.run({ certificates.look() }, then: services.loop) { [unowned self] in
        guard !services.isEnding, watched === certificates else { return }
        watch(certificates)
      }
    }
  }

  /// How long a client over TCP may say nothing: for the head of a request, and between two requests.
  static let remotePatience = Duration.seconds(5)

  /// The limits of connections: heads of tools are small, and their connections few.
  private static func connectionSettings(
    _ settings: AdminSettings, _ address: SocketAddress
  ) -> PawlConfig.ListenerSettings {
    var made = PawlConfig.ListenerSettings(name: AdminServer.listenerName)
    (made.tls, made.http2) = (settings.tls.map { [$0] } ?? [], false)
    (made.maxHeader, made.maxHeaderFields) = (16 << 10, 64)
    if !address.isUnix { (made.headerTimeout, made.keepaliveTimeout) = (remotePatience, remotePatience) }
    return made
  }

  private func accepted(_ descriptor: CInt, from peer: SocketAddress, on listener: ListenerOnLoop) {
    let stream = SocketStream(accepted: descriptor, loop: services.loop)
    let isLocal = peer.isUnix
    guard !services.isEnding, clients.admit(isLocal: isLocal, services.shared.failures) else { return stream.reset() }
    guard listener.opensFirst else {
      return serve(stream, ClientFacts(client: peer, isTrusted: false, port: listener.port), on: listener, after: nil)
    }
    let connections = clients.all(isLocal: isLocal)
    let opening = Opening(stream: stream, peer: peer, listener: listener, connections: connections)
    clients.add(opening, isLocal: isLocal)
    opening.start()
  }

  // MARK: - Changing and ending

  /// Takes the log level of the configuration, the new token and hosts, and closes the other listeners than those that are kept.
  func take(_ settings: AdminSettings, _ level: LogLevel, keeping kept: [ListenAddress]) {
    guardian = AdminGuard(settings)
    logLevel.forget()
    services.events.level = level
    close { !kept.contains($0) }
  }

  /// Stops listening, and leaves running requests alone.
  func closeListeners() { close { _ in true } }

  private func close(where isUnwanted: (ListenAddress) -> Bool) {
    awaited = awaited.filter { !isUnwanted($0) }
    for (address, entry) in listeners where isUnwanted(address) {
      entry.close()
      listeners[address] = nil
      bound.withLock { $0[address] = nil }
    }
  }

  /// Ends everything, before the loop stops.
  func end() {
    services.isEnding = true
    logLevel.forget()
    closeListeners()
    clients.end()
    services.forgetReminders()
    clients.letGo()
  }

  /// Logs that a request was refused: each kind of reason, which is its first word, at most once a minute, whatever the client said. The query is left out: a client may have put its token there.
  func note(refused request: IncomingRequest, _ why: String) {
    let failures = services.shared.failures
    failures.log(
      .warning, "admin-refused", of: "admin \(why.prefix { $0 != " " })",
      ["client": request.clientAddress.text, "target": request.head.target.prefix { $0 != 0x3f }.text, "why": why])
  }
}

extension AdminLoop: RequestDispatch {
  func makeExchange(for request: IncomingRequest, channel: any ResponseChannel) -> any Exchange {
    AdminExchange(request, channel: channel, admin: self, connection: channel as? any ServedConnection)
  }

  func appends(_ head: RequestHead) -> Bool { false }

  func serve(_ stream: SocketStream, _ facts: ClientFacts, on listener: ListenerOnLoop, after opening: Opening?) {
    let isLocal = facts.client?.isUnix == true
    let connections = clients.all(isLocal: isLocal)
    if let opening { connections.remove(opening) }
    let connection = HTTP1Connection(stream: stream, facts: facts, listener: listener, connections: connections)
    clients.add(connection, isLocal: isLocal, after: opening)
    connection.start()
  }

  /// Closes the connection: the admin interface speaks HTTP/1.1 only.
  func serveHTTP2(
    _ stream: SocketStream, _ facts: ClientFacts, on listener: ListenerOnLoop, after connection: any ServedConnection,
    _ received: [UInt8]
  ) {
    stream.close()
    clients.all(isLocal: facts.client?.isUnix == true).connectionClosed(connection)
  }

  func connectionEnded() {}
}
