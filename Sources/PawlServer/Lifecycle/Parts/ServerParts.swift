import CLinux
import PawlCacheStore
import PawlConfig
import PawlDisk
import PawlLoop
import PawlObserve
import PawlUploadStore
import PawlUpstream

/// The parts that a reload replaces: stores and upstreams by name, and the routes that use them.
struct ServerParts: Sendable {
  var stores: [String: CacheStore] = [:]
  /// Caches of earlier settings. While a download still uses one, its directory stays locked.
  private var former: [FormerCache] = []
  var upstreams: [String: (settings: UpstreamSection, upstream: Upstream)] = [:]
  var spools: UploadSpools
  /// The space on disk for waiting content of routes without a spool.
  var buffers: BufferSpace?
  var router: Router

  /// - Parameter lent: the uploads that another process delivers, if the spools are opened now.
  init(
    _ configuration: Configuration, _ services: SharedServices, resolver: Resolver, old: ServerParts?,
    lent: Set<UploadID> = []
  ) throws(ServerError) {
    if let clash = StorePlaces.clash(in: configuration) { throw .storage(clash.path, clash.why) }
    let (workers, events, clock) = (services.workers, services.events, services.clock)
    let known = (old?.former.compactMap(\.store) ?? []) + (old.map { Array($0.stores.values) } ?? [])
    let stores = try Self.caches(of: configuration, known, services, patience: old == nil ? 0 : 100)
    let origins: Upstreams
    let spools: UploadSpools
    do throws(ServerError) {
      origins = try Upstreams(
        configuration, resolver: resolver, events: events, clock: clock, old: old?.upstreams)
      spools = try UploadSpools(
        configuration, workers: workers, longWorkers: services.longWorkers, events: events, clock: clock,
        old: old?.spools, lent: lent)
    } catch {
      for store in stores.values where !known.contains(where: { $0 === store }) { store.close() }
      throw error
    }
    let upstreams = origins.upstreams
    (self.stores, self.upstreams, self.spools) = (stores, upstreams, spools)
    former = known.filter { store in !stores.values.contains { $0 === store } }.map(FormerCache.init)
    let needsBuffers = configuration.sites.flatMap { [$0.settings] + $0.routes.map(\.settings) }
      .contains { !$0.usesSpool }
    let buffers =
      needsBuffers ? old?.buffers ?? BufferSpace(under: configuration.process.stateDirectory, workers, events) : nil
    self.buffers = buffers
    func route(_ name: String, _ settings: SiteSettings) throws(ServerError) -> RouteSettings {
      guard let entry = upstreams[settings.upstream] else { throw .system("no upstream \(settings.upstream)") }
      return RouteSettings(
        name: name, settings: settings, upstream: entry.upstream, configuration: entry.settings,
        cache: settings.cache.flatMap { stores[$0] }, spool: settings.usesSpool ? spools[settings.spool] : nil,
        buffers: buffers)
    }
    var sites: [Router.Site] = []
    for site in configuration.sites {
      var routes: [(path: PathPattern, settings: RouteSettings)] = []
      for entry in site.routes { routes.append((entry.path, try route("\(site.name)/\(entry.name)", entry.settings))) }
      sites.append(
        Router.Site(
          hosts: site.hosts.map { Array($0.utf8) }, settings: try route(site.name, site.settings), routes: routes))
    }
    router = Router(sites: sites, spools: spools.all, old: old?.router)
    // From here on nothing can fail.
    origins.takeCertificates()
    if old != nil { useSettings(of: configuration) }
  }

  /// Gives the caches and spools that stay open their new limits.
  private func useSettings(of configuration: Configuration) {
    for settings in configuration.caches {
      stores[settings.name]?.change(to: CacheStoreSettings(settings, among: configuration.caches.count))
    }
    spools.useSettings()
  }

  /// Returns the configured caches. Caches that are already open are kept, even if their directories were moved; the others are
  /// opened.
  private static func caches(
    of configuration: Configuration, _ known: [CacheStore], _ services: SharedServices, patience: Int
  ) throws(ServerError) -> [String: CacheStore] {
    var stores: [String: CacheStore] = [:]
    for settings in configuration.caches {
      let wanted = CacheStoreSettings(settings, among: configuration.caches.count)
      if let same = known.first(where: { $0.lives(at: settings.path) }) {
        same.move(to: settings.path)
        stores[settings.name] = same
        continue
      }
      do throws(StoreError) {
        stores[settings.name] = try open(
          wanted, patience: patience, workers: services.workers, events: services.events, clock: services.clock)
      } catch { throw .storage(settings.path, "\(error)") }
    }
    return stores
  }

  /// Opens a cache.
  /// - Parameter patience: how many times a locked directory is tried again, every 50 ms. This process may still be closing the
  ///   earlier cache there.
  private static func open(
    _ wanted: CacheStoreSettings, patience: Int, workers: WorkerPool, events: EventLog, clock: any LoopClock
  ) throws(StoreError) -> CacheStore {
    for _ in 0..<patience {
      do throws(StoreError) {
        return try CacheStore(wanted, pool: workers, events: events, clock: clock)
      } catch {
        guard case .inUse = error else { throw error }
        usleep(50_000)
      }
    }
    return try CacheStore(wanted, pool: workers, events: events, clock: clock)
  }

  /// Gives the directories of all stores to another process. Blocking; on no loop.
  /// - Parameter lender: has the steps of the deliveries recorded that still run; `nil`: none runs.
  func handOverStores(lendingTo lender: LentDeliveries?) {
    for store in stores.values { store.handOver() }
    for store in spools.stores { store.handOver(lendingTo: lender) }
  }

  /// Tells a process that starts that the directories will soon be free. Blocking; on no loop.
  func announceEnd() {
    for store in stores.values { store.announceEnd() }
    for store in spools.stores { store.announceEnd() }
  }

  func closeStores() {
    for store in stores.values { store.close() }
    spools.close()
  }
}

extension CacheStoreSettings {
  /// - Parameter caches: the number of caches that share the descriptors of the process.
  fileprivate init(_ settings: CacheSettings, among caches: Int) {
    self.init(
      name: settings.name, path: settings.path, maxSize: settings.maxSize, minFree: settings.minFree,
      memory: settings.memory, memoryObject: settings.memoryObject,
      openBodies: DescriptorLimit.idle(atMost: 8192, among: caches), packedObject: settings.packedObject,
      mostPacks: DescriptorLimit.idle(atMost: Self.usualMostPacks, among: caches))
  }
}
