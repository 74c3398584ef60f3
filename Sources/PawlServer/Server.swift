import CLinux
package import PawlConfig
import PawlHTTP
package import PawlLoop
package import PawlObserve
import PawlStore
import PawlUpstream

/// Why the server could not start.
package enum ServerError: Error, CustomStringConvertible {
  case address(String, String)
  case storage(String, String)
  case log(String)
  case system(String)

  package var description: String {
    switch self {
    case .address(let address, let why): "cannot listen on \(address): \(why)"
    case .storage(let path, let why): "cannot use \(path): \(why)"
    case .log(let why): why
    case .system(let why): why
    }
  }
}

/// The running program: loops, stores, upstreams, logs; started once, drained once. Shared by all threads.
package final class Server: @unchecked Sendable {
  // Safe: immutable after `init`, but for what the locks guard.
  let configuration: PawlConfig.Configuration
  let events: EventLog
  let accessLog: AccessLog?
  let workers: WorkerPool
  let clock: any LoopClock
  let resolver = Resolver()
  let abandoned = AbandonedFills()
  private let trusted: [AddressRange]
  private let connectionLimit: Int
  private let connectionCount = Locked(0)
  private let parts: Locked<ServerParts>
  private var loops: [(loop: EventLoop, thread: LoopThread, server: LoopBound<ServerLoop>)] = []
  package private(set) var addresses: [SocketAddress] = []
  private let undrained = Locked<Set<Int>>([])
  private let whenDrained = Locked<(@Sendable () -> Void)?>(nil)

  /// Opens logs, stores and listeners; serves when it returns. Blocking; on the main thread.
  package init(
    _ configuration: PawlConfig.Configuration, events: EventLog, clock: any LoopClock = SystemClock()
  ) throws(ServerError) {
    (self.configuration, self.events, self.clock) = (configuration, events, clock)
    BrokenPipe.ignoreSignal()
    let descriptors = Self.raiseDescriptorLimit(events)
    connectionLimit = configuration.process.maxConnections ?? max(64, Int(descriptors) - 256)
    trusted = configuration.process.trustedProxies
    accessLog = try Self.openAccessLog(configuration.process)
    workers = WorkerPool(threads: 4)
    let parts = try ServerParts(configuration, workers: workers, events: events, clock: clock, resolver: resolver, old: nil)
    self.parts = Locked(parts)
    do {
      try startLoops(parts.router)
    } catch {
      stopLoops()
      parts.closeStores()
      throw error
    }
  }

  private static func raiseDescriptorLimit(_ events: EventLog) -> UInt64 {
    do { return try DescriptorLimit.raise() } catch {
      events.log(.warning, "descriptor-limit", ["error": "\(error)"])
      return 1024
    }
  }

  private static func openAccessLog(_ settings: ProcessSettings) throws(ServerError) -> AccessLog? {
    let destination: LogDestination
    switch settings.accessLog {
    case .off: return nil
    case .standardError: destination = .standardError
    case .file(let path): destination = .file(path: path)
    }
    do { return try AccessLog(destination: destination, format: settings.accessLogFormat == .json ? .json : .combined) }
    catch { throw .log(error.description) }
  }

  // MARK: - Starting

  private func startLoops(_ router: Router) throws(ServerError) {
    let count = configuration.process.workers ?? max(1, Int(sysconf(CInt(_SC_NPROCESSORS_ONLN))))
    do throws(LoopError) {
      for index in 0..<count {
        let (loop, thread) = try EventLoop.startThread(index: index, clock: clock)
        loops.append((loop, thread, LoopBound(ServerLoop(loop: loop, server: self, router: router), on: loop)))
      }
    } catch { throw .system("cannot start an event loop: \(error)") }
    for settings in configuration.listeners {
      for address in settings.addresses { try listen(on: address, settings) }
    }
  }

  /// Every loop listens on the address itself (SO_REUSEPORT); port 0 is picked once. A unix socket has one listener.
  private func listen(on address: ListenAddress, _ settings: PawlConfig.ListenerSettings) throws(ServerError) {
    guard var wanted = SocketAddress.parse(address.description) else {
      throw .address(address.description, "not an address")
    }
    let listening = wanted.isUnix ? loops[..<1] : loops[...]
    for entry in listening {
      let result = Locked<Result<SocketAddress, LoopError>?>(nil)
      let done = Signal()
      let asked = wanted
      let shares = listening.count > 1
      entry.loop.run {
        let bound = entry.server.get().listen(on: asked, reusePort: shares, settings)
        result.withLock { $0 = bound }
        done.signal()
      }
      done.wait()
      switch result.withLock({ $0 }) {
      case .success(let bound)?: wanted = bound
      case .failure(let error)?: throw .address(address.description, error.description)
      case nil: throw .address(address.description, "the loop ended")
      }
    }
    addresses.append(wanted)
  }

  // MARK: - Running

  /// One more client connection; `false` at `max-connections`.
  func admit() -> Bool {
    connectionCount.withLock { count in
      guard count < connectionLimit else { return false }
      count += 1
      return true
    }
  }

  func release() { connectionCount.withLock { $0 -= 1 } }

  func isTrusted(_ peer: SocketAddress?) -> Bool {
    guard !trusted.isEmpty, let peer, let address = NetworkAddress(peer.hostText) else { return false }
    return trusted.contains { $0.contains(address.octets) }
  }

  /// Settings for requests that no site takes: they are refused, but logged and timed like others.
  func noRoute(_ router: Router) -> RouteSettings { router.all[0] }

  /// Takes a new configuration without touching connections: sites, routes, upstreams, caches by name.
  /// What needs a restart (listeners, workers, state-dir, a cache's path) stays and is said.
  package func reload(_ new: PawlConfig.Configuration) {
    let made: ServerParts
    do throws(ServerError) {
      made = try parts.withLock { old throws(ServerError) in
        try ServerParts(new, workers: workers, events: events, clock: clock, resolver: resolver, old: old)
      }
    } catch { return events.log(.error, "reload-failed", ["error": "\(error)"]) }
    parts.withLock { $0 = made }
    for entry in loops { entry.loop.run { entry.server.get().router = made.router } }
    reopenLogs()
    if new.listeners != configuration.listeners {
      events.log(.warning, "reload-partial", ["why": "a change of listen sections takes effect after a restart"])
    }
    events.log(.notice, "reloaded", [:])
  }

  package func reopenLogs() {
    accessLog?.reopen()
    events.reopen()
  }

  // MARK: - Ending

  /// Stops accepting, lets running answers end within `drain-timeout`, then cuts what is left. Calls back once, from
  /// a loop, when no connection is left.
  package func drain(_ drained: @escaping @Sendable () -> Void) {
    whenDrained.withLock { $0 = drained }
    undrained.withLock { $0 = Set(loops.indices) }
    for entry in loops { entry.loop.run { entry.server.get().drain() } }
  }

  /// The time for draining is over.
  package func cutRemaining() { for entry in loops { entry.loop.run { entry.server.get().abandon() } } }

  func drained(_ loop: ServerLoop) {
    guard loop.connections.isEmpty else { return }
    let isLast = undrained.withLock { left in left.remove(loop.loop.index) != nil && left.isEmpty }
    guard isLast else { return }
    whenDrained.withLock { drained in
      defer { drained = nil }
      return drained
    }?()
  }

  /// Ends the loops and puts on record all that was fetched. Blocking; after `drain`.
  package func stop() {
    for entry in loops { entry.loop.run { entry.server.get().closeOrigins() } }
    stopLoops()
    parts.withLock { $0.closeStores() }
    workers.stop()
    accessLog?.flush()
    events.flush()
  }

  private func stopLoops() {
    for entry in loops { entry.loop.stop() }
    for entry in loops { entry.thread.join() }
    loops = []
  }
}

/// What a reload replaces: stores and upstreams by name, and the routes that use them.
struct ServerParts: Sendable {
  var stores: [String: CacheStore] = [:]
  var paths: [String: String] = [:]
  var upstreams: [String: (settings: UpstreamConfiguration, upstream: Upstream)] = [:]
  var router: Router

  init(
    _ configuration: PawlConfig.Configuration, workers: WorkerPool, events: EventLog, clock: any LoopClock,
    resolver: Resolver, old: ServerParts?
  ) throws(ServerError) {
    var stores: [String: CacheStore] = [:]
    var paths: [String: String] = [:]
    for settings in configuration.caches {
      paths[settings.name] = settings.path
      if let same = old?.stores[settings.name], old?.paths[settings.name] == settings.path {
        stores[settings.name] = same
        continue
      }
      do throws(StoreError) {
        stores[settings.name] = try CacheStore(
          CacheStoreSettings(
            name: settings.name, path: settings.path, maxSize: settings.maxSize, minFree: settings.minFree,
            memory: settings.memory, memoryObject: settings.memoryObject), pool: workers, events: events, clock: clock)
      } catch { throw .storage(settings.path, "\(error)") }
    }
    var upstreams: [String: (settings: UpstreamConfiguration, upstream: Upstream)] = [:]
    for settings in configuration.upstreams {
      if let same = old?.upstreams[settings.name], same.settings == settings {
        upstreams[settings.name] = same
      } else {
        upstreams[settings.name] = (settings, Upstream(settings.forPool, resolver: resolver))
      }
    }
    (self.stores, self.paths, self.upstreams) = (stores, paths, upstreams)
    func route(_ name: String, _ settings: PathSettings) throws(ServerError) -> RouteSettings {
      guard let entry = upstreams[settings.upstream] else { throw .system("no upstream \(settings.upstream)") }
      return RouteSettings(
        name: name, settings: settings, upstream: entry.upstream, configuration: entry.settings,
        cache: settings.cache.flatMap { stores[$0] })
    }
    var sites: [Router.Site] = []
    for site in configuration.sites {
      var routes: [(path: PathPattern, settings: RouteSettings)] = []
      for entry in site.routes { routes.append((entry.path, try route("\(site.name)/\(entry.name)", entry.settings))) }
      sites.append(
        Router.Site(
          hosts: site.hosts.map { Array($0.utf8) }, settings: try route(site.name, site.settings), routes: routes))
    }
    router = Router(sites: sites)
  }

  func closeStores() { for store in stores.values { store.close() } }
}

extension UpstreamConfiguration {
  var forPool: UpstreamSettings {
    UpstreamSettings(
      name: name,
      urls: urls.map { url in
        UpstreamURL(host: url.socketPath ?? url.host, port: url.port, basePath: url.basePath, isUnix: url.socketPath != nil)
      }, connectTimeout: connectTimeout, responseTimeout: responseTimeout, idleTimeout: idleTimeout,
      queueTimeout: queueTimeout, maxConnections: maxConnections)
  }
}

/// Lets one thread wait for another, once.
private final class Signal: @unchecked Sendable {
  // Safe: a pipe is made for several threads.
  private var ends: [CInt] = [-1, -1]
  init() { pipe(&ends) }
  deinit { for end in ends { close(end) } }
  func signal() { _ = write(ends[1], [1], 1) }
  func wait() {
    var byte: UInt8 = 0
    while read(ends[0], &byte, 1) < 0, pawl_errno() == EINTR {}
  }
}
