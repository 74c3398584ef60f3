import PawlConfig
import PawlLoop
import PawlObserve
import PawlStore

/// The spools that routes use, by their directory. Kept over reloads: one that no route uses any more may still hold
/// uploads.
struct UploadSpools: Sendable {
  struct Open: Sendable {
    let settings: SpoolSettings
    let store: UploadStore
    let plain: PlainSpool
  }

  private(set) var open: [String: Open] = [:]
  private var byName: [String: String] = [:]

  /// Opens, blocking, what is used and not open yet.
  init(
    _ configuration: Configuration, workers: WorkerPool, longWorkers: WorkerPool? = nil, events: EventLog,
    clock: any LoopClock, old: UploadSpools?
  ) throws(ServerError) {
    open = old?.open ?? [:]
    let used = Set(
      configuration.sites.flatMap { [$0.settings] + $0.routes.map(\.settings) }.filter(\.usesSpool).map(\.spool))
    for settings in configuration.spools where used.contains(settings.name) {
      byName[settings.name] = settings.path
      if let same = open[settings.path] {
        if same.settings != settings {
          events.log(
            .warning, "reload-partial",
            ["why": "a change of [spool:\(settings.name)] takes effect after a restart"])
        }
        continue
      }
      do throws(StoreError) {
        let store = try UploadStore(
          settings.forStore, pool: workers, longJobs: longWorkers, events: events, clock: clock)
        let plain = PlainSpool(directory: settings.path, store: store, pool: workers)
        open[settings.path] = Open(settings: settings, store: store, plain: plain)
      } catch {
        for (path, entry) in open where old?.open[path] == nil { entry.store.close() }
        throw .storage(settings.path, "\(error)")
      }
    }
  }

  subscript(name: String) -> Open? { byName[name].flatMap { open[$0] } }

  var stores: [UploadStore] { open.values.map(\.store) }

  /// Blocking.
  func close() { for store in stores { store.close() } }
}

extension SpoolSettings {
  var forStore: UploadStoreSettings {
    UploadStoreSettings(
      name: name, path: path, maxSize: maxSize, expireAfter: expireAfter, maxAge: maxAge,
      isDurable: durability == .data, maxUploadsPerClient: maxUploadsPerClient, maxSharePerClient: maxSharePerClient)
  }
}
