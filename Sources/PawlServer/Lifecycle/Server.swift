import CLinux
import PawlBase
import PawlCertificates
package import PawlConfig
import PawlHTTP
package import PawlLoop
package import PawlObserve
import PawlTLS
package import PawlUploadStore
import PawlUpstream

/// The running server: loops, stores, upstreams and logs. Started once, drained once. Shared by all threads.
package final class Server: Sendable {
  private let configurationInUse: Locked<PawlConfig.Configuration>
  let restartKeys: Locked<RestartKeys>
  let services: SharedServices
  let admission: ConnectionAdmission
  let abandoned = AbandonedFillLimiter()
  let oversizedResponses = OversizedResponses([:])
  let certificates: Certificates
  let resolver = Resolver()
  let parts: Locked<ServerParts>
  /// The settings of the logs in force.
  let logSettings: Locked<ProcessSettings>
  private let running = Locked<[RunningLoop]>([])
  let bound = Locked<[BoundListener]>([])
  private let lastListenerID = Locked(0)
  /// The listening sockets that this process was started with, or has bound itself before it gave up its privileges.
  let inherited: InheritedSockets
  /// The names of the sockets in ``inherited`` that were bound for an address of the configuration.
  let early: Locked<[ListenAddress: [String]]>
  /// Held during a reload, so that another one waits, and so does ``stop()``.
  let reloading = Locked(())
  private let descriptors: UInt64
  /// Whether the server drains, and takes no new settings any more.
  let isDraining = AtomicWord(0)
  let undrained = Locked<Set<Int>>([])
  let whenDrained = Locked<(@Sendable () -> Void)?>(nil)
  /// Deliveries that go on elsewhere and are recorded here.
  let borrowed = Locked<[BorrowedDeliveries]>([])

  struct RunningLoop: Sendable {
    let loop: EventLoop
    let thread: LoopThread
    let server: LoopBound<ServerLoop>
  }

  var events: EventLog { services.events }
  var loops: [RunningLoop] { running.withLock { $0 } }
  /// The configuration in use. A reload replaces it.
  package internal(set) var configuration: PawlConfig.Configuration {
    get { configurationInUse.withLock { $0 } }
    set { configurationInUse.withLock { $0 = newValue } }
  }

  /// Opens logs, stores and listeners; requests are served once this has returned. Blocking; on the main thread.
  /// - Parameters:
  ///   - inherited: the listening sockets that this process was started with. Those that no listener uses are closed.
  ///   - awaitStores: called before the stores are opened; waits until another process has let go of them, and returns the uploads
  ///     that it still delivers.
  package init(
    _ configuration: PawlConfig.Configuration, events: EventLog, inherited: InheritedSockets = InheritedSockets(),
    clock: any LoopClock = SystemClock(), awaitStores: () throws(ServerError) -> Set<UploadID> = { [] }
  ) throws(ServerError) {
    (restartKeys, configurationInUse) = (Locked(RestartKeys(configuration)), Locked(configuration))
    logSettings = Locked(configuration.process)
    self.inherited = inherited
    BrokenPipe.ignoreSignal()
    descriptors = Self.raiseDescriptorLimit(events)
    do throws(TLSProblem) {
      certificates = try Certificates(configuration, events: events, clock: clock)
    } catch { throw .certificates(error.description, file: error.file) }
    // Before any file is made, so that it belongs to the user that pawl becomes; after keys were read and ports bound as root.
    var names = try Self.becomeUser(configuration, binding: inherited)
    services = SharedServices(
      events: events, accessLog: try Self.openAccessLog(configuration.process, events), clock: clock)
    let lent = try awaitStores()
    try Self.awaitFormer(configuration, events) { () throws(ServerError) in
      if names.isEmpty { names = try Self.bindAll(configuration, inherited, owner: (getuid(), getgid())) }
    }
    early = Locked(names)
    let parts = try ServerParts(configuration, services, resolver: resolver, old: nil, lent: lent)
    self.parts = Locked(parts)
    let needed = Self.descriptorsNeeded(by: parts)
    if Int(clamping: descriptors) - needed < Self.leastConnections {
      events.log(
        .warning, "descriptor-limit",
        ["limit": "\(descriptors)", "wanted": "\(needed + Self.leastConnections) or more"])
    }
    admission = ConnectionAdmission(
      limit: Self.connectionLimit(configuration, descriptors, needed), trusted: configuration.process.trustedProxies,
      events: events)
    do {
      try startLoops(parts.router)
      watchCertificates()
      checkNodes(parts)
      _ = borrow(from: parts)
      beginDeliveries(stores: parts.spools.stores, foundSent: parts.spools.foundSent)
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

  /// The descriptors that are not for connections of clients.
  private static func descriptorsNeeded(by parts: ServerParts) -> Int {
    otherDescriptors + parts.stores.values.reduce(0) { $0 + $1.descriptorsWhenFull }
  }

  private static func connectionLimit(
    _ configuration: PawlConfig.Configuration, _ descriptors: UInt64, _ needed: Int
  ) -> Int {
    let all = Int(clamping: descriptors)
    return configuration.process.maxConnections ?? max(all / clientShare, all - needed)
  }

  /// Returns `max-connections`, or as many as the limit on open files allows.
  func connectionLimit(_ configuration: PawlConfig.Configuration, _ parts: ServerParts) -> Int {
    Self.connectionLimit(configuration, descriptors, Self.descriptorsNeeded(by: parts))
  }

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
    listen(try bind(ListenerPlan(configuration.listeners, present: [])))
    for socket in inherited.closeUnused() { events.log(.warning, "socket-unused", ["socket": socket]) }
  }

  /// Returns a number for one more listener.
  func takeListenerID() -> Int {
    lastListenerID.withLock { last in
      last += 1
      return last
    }
  }

  /// Watches the certificate files of all listeners, on the first loop.
  func watchCertificates() {
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

  package func reopenLogs(_ then: @escaping @Sendable ([String]) -> Void = { _ in }) { services.reopenLogs(then) }

  /// Opens the logs that new settings ask for, where these differ from the settings in force; ``replaceLogs(_:)`` uses them. Blocking.
  /// - Throws: ``LogError`` if one cannot be opened.
  package func openLogs(_ settings: ProcessSettings) throws(LogError) -> NewLogs {
    try NewLogs(settings, inPlaceOf: logSettings.withLock { $0 }, events)
  }

  /// Uses logs that a reload has opened: their level, where they go, and the format of the access log. Requests that are being
  /// answered are logged in the new ones. From any thread.
  package func replaceLogs(_ new: NewLogs) {
    new.take(events)
    logSettings.withLock { $0 = new.settings }
    guard case .some(let log) = new.accessLog else { return }
    services.replaceAccessLog(log)
    for entry in loops { entry.loop.run { entry.server.get().services.accessLog = log } }
  }

  /// The loops with their deliveries.
  var homes: [DeliveryRecovery.Home] {
    loops.map { entry in DeliveryRecovery.Home(loop: entry.loop) { entry.server.get().uploads } }
  }

  /// Begins the deliveries of the complete uploads in the spools.
  func beginDeliveries(stores: [UploadStore], foundSent: Set<UploadID>) {
    DeliveryRecovery.begin(stores: stores, foundSent: foundSent) { [weak self] in self?.homes ?? [] }
  }

  // MARK: - Ending

  /// Ends the loops and records in the catalogues what was fetched. Blocking; call this after ``drain(_:)``.
  package func stop() {
    isDraining.store(1)
    reloading.withLock { _ in
      for entry in loops { entry.loop.run { entry.server.get().end() } }
      stopLoops()
      parts.withLock { $0.closeStores() }
      services.stop()
    }
  }

  private func stopLoops() {
    for entry in loops { entry.loop.stop() }
    for entry in loops { entry.thread.join() }
    running.withLock { $0 = [] }
  }
}
