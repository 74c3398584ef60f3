import PawlConfig
import PawlLoop
import PawlObserve
import PawlStore
import PawlUpstream

/// What a reload replaces: stores and upstreams by name, and the routes that use them.
struct ServerParts: Sendable {
  var stores: [String: CacheStore] = [:]
  var paths: [String: String] = [:]
  var upstreams: [String: (settings: UpstreamConfiguration, upstream: Upstream)] = [:]
  var spools: UploadSpools
  var router: Router

  init(
    _ configuration: PawlConfig.Configuration, workers: WorkerPool, longWorkers: WorkerPool? = nil, events: EventLog,
    clock: any LoopClock, resolver: Resolver, old: ServerParts?
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
    let origins: Origins
    let spools: UploadSpools
    do throws(ServerError) {
      origins = try Origins(
        configuration, resolver: resolver, events: events, clock: clock, old: old?.upstreams)
      spools = try UploadSpools(
        configuration, workers: workers, longWorkers: longWorkers, events: events, clock: clock, old: old?.spools)
    } catch {
      for (name, store) in stores where old?.stores[name] == nil { store.close() }
      throw error
    }
    let upstreams = origins.upstreams
    (self.stores, self.paths, self.upstreams, self.spools) = (stores, paths, upstreams, spools)
    func route(_ name: String, _ settings: PathSettings) throws(ServerError) -> RouteSettings {
      guard let entry = upstreams[settings.upstream] else { throw .system("no upstream \(settings.upstream)") }
      return RouteSettings(
        name: name, settings: settings, upstream: entry.upstream, configuration: entry.settings,
        cache: settings.cache.flatMap { stores[$0] }, spool: settings.usesSpool ? spools[settings.spool] : nil)
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
    origins.takeCertificates()
  }

  func closeStores() {
    for store in stores.values { store.close() }
    spools.close()
  }
}
