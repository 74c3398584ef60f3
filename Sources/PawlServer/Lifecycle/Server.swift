import CLinux
import PawlBase
package import PawlConfig
import PawlHTTP
package import PawlLoop
package import PawlObserve
import PawlStore
import PawlUpstream

/// The running program: loops, stores, upstreams, logs; started once, drained once. Shared by all threads.
package final class Server: Sendable {
  let configuration: PawlConfig.Configuration
  let events: EventLog
  let accessLog: AccessLog?
  let workers: WorkerPool
  /// For what takes as long as an upload is large: joining parts, digests of stored bytes. Nobody's sync waits for it.
  let longWorkers: WorkerPool
  let clock: any LoopClock
  let resolver = Resolver()
  let abandoned = AbandonedFills()
  let probes = Locked(ProbeMemory())
  let bufferMemory = BufferMemory()
  /// Answers to uploads that are too long to be kept, for clients that wait for them.
  let spilledAnswers = Locked<[UploadID: SpilledAnswer]>([:])
  let openings: OpeningLog
  let failures: FailureLog
  let certificates: Certificates
  private let trusted: [AddressRange]
  private let connectionLimit: Int
  private let connectionCount = Locked(0)
  private let parts: Locked<ServerParts>
  private let running = Locked<[RunningLoop]>([])
  private let bound = Locked<[(address: SocketAddress, isSecure: Bool)]>([])
  private let undrained = Locked<Set<Int>>([])
  private let whenDrained = Locked<(@Sendable () -> Void)?>(nil)

  struct RunningLoop: Sendable {
    let loop: EventLoop
    let thread: LoopThread
    let server: LoopBound<ServerLoop>
  }

  var loops: [RunningLoop] { running.withLock { $0 } }
  /// Where it listens, with the ports that the kernel chose.
  package var addresses: [SocketAddress] { bound.withLock { $0.map(\.address) } }
  /// The same as URLs, `https://127.0.0.1:443` for instance.
  package var urls: [String] { bound.withLock { $0.map { "\($0.isSecure ? "https" : "http")://\($0.address)" } } }

  /// Opens logs, stores and listeners; serves when it returns. Blocking; on the main thread.
  package init(
    _ configuration: PawlConfig.Configuration, events: EventLog, clock: any LoopClock = SystemClock()
  ) throws(ServerError) {
    (self.configuration, self.events, self.clock) = (configuration, events, clock)
    BrokenPipe.ignoreSignal()
    let descriptors = Self.raiseDescriptorLimit(events)
    connectionLimit = configuration.process.maxConnections ?? max(64, Int(descriptors) - 256)
    trusted = configuration.process.trustedProxies
    openings = OpeningLog(events)
    failures = FailureLog(events: events, clock: clock)
    certificates = try Certificates(configuration, events: events, clock: clock)
    accessLog = try Self.openAccessLog(configuration.process, events)
    workers = WorkerPool(threads: 4)
    longWorkers = WorkerPool(threads: 2, name: "pawl-long")
    let parts = try ServerParts(
      configuration, workers: workers, longWorkers: longWorkers, events: events, clock: clock, resolver: resolver,
      old: nil)
    self.parts = Locked(parts)
    do {
      try startLoops(parts.router)
      watchCertificates()
      UploadStart.begin(self, stores: parts.spools.stores, opened: parts.spools.stores)
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

  private static func openAccessLog(_ settings: ProcessSettings, _ events: EventLog) throws(ServerError) -> AccessLog? {
    let destination: LogDestination
    switch settings.accessLog {
    case .off: return nil
    case .standardError: destination = .standardError
    case .file(let path): destination = .file(path: path)
    }
    do {
      return try AccessLog(destination: destination, format: settings.accessLogFormat == .json ? .json : .combined) {
        events.log(.error, "access-log-failed", ["why": $0])
      }
    } catch { throw .log(error.description) }
  }

  // MARK: - Starting

  private func startLoops(_ router: Router) throws(ServerError) {
    let count = configuration.process.workers ?? max(1, Int(sysconf(CInt(_SC_NPROCESSORS_ONLN))))
    do throws(LoopError) {
      for index in 0..<count {
        let (loop, thread) = try EventLoop.startThread(index: index, clock: clock)
        let server = LoopBound(ServerLoop(loop: loop, server: self, router: router), on: loop)
        running.withLock { $0.append(RunningLoop(loop: loop, thread: thread, server: server)) }
      }
    } catch { throw .system("cannot start an event loop: \(error)") }
    for settings in configuration.listeners {
      for address in settings.addresses { try listen(on: address, settings) }
    }
  }

  /// Every loop listens on the address itself; nobody else may. Port 0 is picked once. A unix socket has one listener.
  private func listen(on address: ListenAddress, _ settings: PawlConfig.ListenerSettings) throws(ServerError) {
    guard var wanted = SocketAddress.parse(address.description) else {
      throw .address(address.description, "not an address")
    }
    let listening = wanted.isUnix ? loops[..<1] : loops[...]
    let certificates = certificates.of(settings)
    for (index, entry) in listening.enumerated() {
      let asked = wanted
      let sharing: PortSharing = listening.count == 1 ? .alone : index == 0 ? .first : .further
      switch entry.loop.answer({
        entry.server.get().listen(on: asked, sharing: sharing, settings, certificates: certificates)
      }) {
      case .success(let bound)?: wanted = bound
      case .failure(let error)?: throw .address(address.description, error.description)
      case nil: throw .address(address.description, "the loop ended")
      }
    }
    bound.withLock { [wanted] in $0.append((wanted, certificates != nil)) }
  }

  /// On one loop for all of them.
  private func watchCertificates() {
    guard !certificates.isEmpty, let first = loops.first else { return }
    first.loop.run { first.server.get().watchCertificates() }
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
    guard !trusted.isEmpty, let peer else { return false }
    guard !peer.isUnix else { return trusted.contains(where: \.isUnixSockets) }
    guard let address = NetworkAddress(peer.hostText) else { return false }
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
        try ServerParts(
          new, workers: workers, longWorkers: longWorkers, events: events, clock: clock, resolver: resolver, old: old)
      }
    } catch { return events.log(.error, "reload-failed", ["error": "\(error)"]) }
    parts.withLock { $0 = made }
    for entry in loops { entry.loop.run { entry.server.get().router = made.router } }
    UploadStart.begin(self, stores: made.spools.stores, opened: made.spools.opened)
    reopenLogs()
    certificates.reload(new)
    if new.listeners.map(\.untilRestart) != configuration.listeners.map(\.untilRestart) {
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
    guard loop.connections.isEmpty, loop.uploads.running.isEmpty, loop.hasClosedAll else { return }
    let isLast = undrained.withLock { left in left.remove(loop.loop.index) != nil && left.isEmpty }
    guard isLast else { return }
    whenDrained.withLock { drained in
      defer { drained = nil }
      return drained
    }?()
  }

  /// Ends the loops and puts on record all that was fetched. Blocking; after `drain`.
  package func stop() {
    for entry in loops { entry.loop.run { entry.server.get().end() } }
    stopLoops()
    parts.withLock { $0.closeStores() }
    longWorkers.stop()
    workers.stop()
    accessLog?.flushLast()
    events.flushLast()
  }

  private func stopLoops() {
    for entry in loops { entry.loop.stop() }
    for entry in loops { entry.thread.join() }
    running.withLock { $0 = [] }
  }
}
