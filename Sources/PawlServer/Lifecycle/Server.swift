import CLinux
import PawlBase
import PawlCertificates
package import PawlConfig
import PawlHTTP
package import PawlLoop
package import PawlObserve
import PawlTLS
import PawlUploadStore
import PawlUpstream

/// The running server: loops, stores, upstreams and logs. Started once, drained once. Shared by all threads.
package final class Server: Sendable {
  let configuration: PawlConfig.Configuration
  let services: SharedServices
  let admission: ConnectionAdmission
  let abandoned = AbandonedFillLimiter()
  let oversizedResponses = OversizedResponses([:])
  let certificates: Certificates
  let resolver = Resolver()
  /// The settings of the logs in force.
  private let logSettings: Locked<ProcessSettings>
  let parts: Locked<ServerParts>
  private let running = Locked<[RunningLoop]>([])
  let bound = Locked<[(address: SocketAddress, isSecure: Bool)]>([])
  /// The listening sockets that this process was started with, or has bound itself before it gave up its privileges.
  let inherited: InheritedSockets
  /// The names of the sockets in ``inherited`` that were bound for an address of the configuration.
  let early: Locked<[ListenAddress: [String]]>
  let undrained = Locked<Set<Int>>([])
  let whenDrained = Locked<(@Sendable () -> Void)?>(nil)

  struct RunningLoop: Sendable {
    let loop: EventLoop
    let thread: LoopThread
    let server: LoopBound<ServerLoop>
  }

  var events: EventLog { services.events }
  var loops: [RunningLoop] { running.withLock { $0 } }
  /// The addresses on which the server listens, with the ports that the kernel chose.
  package var addresses: [SocketAddress] { bound.withLock { $0.map(\.address) } }
  /// The addresses as URLs, `https://127.0.0.1:443` for instance.
  package var urls: [String] { bound.withLock { $0.map { "\($0.isSecure ? "https" : "http")://\($0.address)" } } }

  /// Opens logs, stores and listeners; requests are served once this has returned. Blocking; on the main thread.
  /// - Parameters:
  ///   - inherited: the listening sockets that this process was started with. Those that no listener uses are closed.
  ///   - awaitStores: called before the stores are opened; waits until another process has let go of them.
  package init(
    _ configuration: PawlConfig.Configuration, events: EventLog, inherited: InheritedSockets = InheritedSockets(),
    clock: any LoopClock = SystemClock(), awaitStores: () -> Void = {}
  ) throws(ServerError) {
    logSettings = Locked(configuration.process)
    (self.configuration, self.inherited) = (configuration, inherited)
    BrokenPipe.ignoreSignal()
    let descriptors = Self.raiseDescriptorLimit(events)
    do throws(TLSProblem) {
      certificates = try Certificates(configuration, events: events, clock: clock)
    } catch { throw .certificates(error.description) }
    // Before any file is made, so that it belongs to the user that pawl becomes; after keys were read and ports bound as root.
    early = Locked(try Self.becomeUser(configuration, binding: inherited))
    services = SharedServices(
      events: events, accessLog: try Self.openAccessLog(configuration.process, events), clock: clock)
    awaitStores()
    let parts = try ServerParts(configuration, services, resolver: resolver, old: nil)
    self.parts = Locked(parts)
    let packs = parts.stores.values.reduce(0) { $0 + $1.descriptorsWhenFull }
    let left = Int(clamping: descriptors) - Self.otherDescriptors - packs
    if left < Self.leastConnections {
      events.log(
        .warning, "descriptor-limit",
        ["limit": "\(descriptors)", "wanted": "\(Self.otherDescriptors + packs + Self.leastConnections) or more"])
    }
    admission = ConnectionAdmission(
      limit: configuration.process.maxConnections
        ?? max(Int(clamping: descriptors) / Self.clientShare, left),
      trusted: configuration.process.trustedProxies, events: events)
    do {
      try startLoops(parts.router)
      watchCertificates()
      checkNodes(parts)
      beginDeliveries(stores: parts.spools.stores, opened: parts.spools.stores)
    } catch {
      stopLoops()
      parts.closeStores()
      throw error
    }
  }

  /// Descriptors for everything but client connections and packs: connections to origins, bodies, logs.
  private static let otherDescriptors = 256
  /// If fewer client connections than this are possible, pawl logs a warning when it starts.
  private static let leastConnections = 64
  /// The limit of client connections is at least the descriptor limit divided by this number. Each connection may need a second
  /// descriptor for the origin, and a third one for a file.
  private static let clientShare = 4

  private static func raiseDescriptorLimit(_ events: EventLog) -> UInt64 {
    do { return try DescriptorLimit.raise() } catch {
      events.log(.warning, "descriptor-limit", ["error": "\(error)"])
      return 1024
    }
  }

  private static func openAccessLog(_ settings: ProcessSettings, _ events: EventLog) throws(ServerError) -> AccessLog? {
    do throws(LogError) { return try settings.openAccessLog(events) } catch { throw .log(error.description) }
  }

  // MARK: - Starting

  private func startLoops(_ router: Router) throws(ServerError) {
    let count = Self.workers(configuration)
    do throws(LoopError) {
      for index in 0..<count {
        let (loop, thread) = try EventLoop.startThread(index: index, clock: services.clock)
        let server = LoopBound(ServerLoop(loop: loop, server: self, router: router), on: loop)
        running.withLock { $0.append(RunningLoop(loop: loop, thread: thread, server: server)) }
      }
    } catch { throw .system("cannot start an event loop: \(error)") }
    for settings in configuration.listeners {
      for address in settings.addresses { try listen(on: address, settings) }
    }
    for socket in inherited.closeUnused() { events.log(.warning, "socket-unused", ["socket": socket]) }
  }

  /// Watches the certificate files of all listeners, on the first loop.
  private func watchCertificates() {
    guard !certificates.isEmpty, let first = loops.first else { return }
    first.loop.run { first.server.get().watchCertificates() }
  }

  /// Checks the nodes of all upstreams, on the first loop.
  func checkNodes(_ parts: ServerParts) {
    guard let first = loops.first else { return }
    let upstreams = parts.upstreams.values.map(\.upstream)
    first.loop.run { first.server.get().checkNodes(of: upstreams) }
  }

  // MARK: - Running

  /// Applies a new configuration: its sites, routes and upstreams, and its list of caches. Connections are not touched. Logs the
  /// outcome. Blocking; never called on a loop.
  @discardableResult
  package func reload(_ new: PawlConfig.Configuration) -> ReloadOutcome {
    let outcome = apply(new)
    outcome.log(to: events)
    return outcome
  }

  private func apply(_ new: PawlConfig.Configuration) -> ReloadOutcome {
    let made: ServerParts
    do throws(ServerError) {
      made = try parts.withLock { old throws(ServerError) in
        try ServerParts(new, services, resolver: resolver, old: old)
      }
    } catch { return ReloadOutcome(isApplied: false, mistakes: [error.description]) }
    parts.withLock { $0 = made }
    for entry in loops { entry.loop.run { entry.server.get().services.router = made.router } }
    checkNodes(made)
    beginDeliveries(stores: made.spools.stores, opened: made.spools.opened)
    reopenLogs()
    certificates.reload(new)
    let changed = RestartKeys.changed(from: configuration, to: new)
    return ReloadOutcome(isApplied: true, needsRestart: made.needsRestart + changed)
  }

  package func reopenLogs() { services.reopenLogs() }

  /// Opens the logs that new settings ask for, where these differ from the settings in force; ``replaceLogs(_:)`` uses them. Blocking.
  /// - Throws: ``LogError`` if one cannot be opened.
  package func openLogs(_ settings: ProcessSettings) throws(LogError) -> NewLogs {
    try NewLogs(settings, inPlaceOf: logSettings.withLock { $0 }, events)
  }

  /// Uses logs that a reload has opened: their level, where they go, and the format of the access log. Requests that are being
  /// answered are logged in the new ones. From any thread.
  /// - Throws: ``LogError`` if the event log cannot be opened; then no log is changed.
  package func replaceLogs(_ new: NewLogs) throws(LogError) {
    try new.take(events)
    logSettings.withLock { $0 = new.settings }
    guard case .some(let log) = new.accessLog else { return }
    services.replaceAccessLog(log)
    for entry in loops { entry.loop.run { entry.server.get().services.accessLog = log } }
  }

  /// Begins the deliveries of the complete uploads in the spools.
  func beginDeliveries(stores: [UploadStore], opened: [UploadStore]) {
    DeliveryRecovery.begin(stores: stores, opened: opened) { [weak self] in
      (self?.loops ?? []).map { entry in DeliveryRecovery.Home(loop: entry.loop) { entry.server.get().uploads } }
    }
  }

  // MARK: - Ending

  /// Ends the loops and records in the catalogues what was fetched. Blocking; call this after ``drain(_:)``.
  package func stop() {
    for entry in loops { entry.loop.run { entry.server.get().end() } }
    stopLoops()
    parts.withLock { $0.closeStores() }
    services.stop()
  }

  private func stopLoops() {
    for entry in loops { entry.loop.stop() }
    for entry in loops { entry.thread.join() }
    running.withLock { $0 = [] }
  }
}
