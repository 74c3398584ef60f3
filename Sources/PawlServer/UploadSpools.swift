import PawlConfig
import PawlLoop
import PawlObserve
import PawlStore

/// The spools that routes use, by their directory, and those that still hold uploads though no route uses them. Kept over
/// reloads.
struct UploadSpools: Sendable {
  struct Open: Sendable {
    let settings: SpoolSettings
    let store: UploadStore
    let plain: PlainSpool
  }

  private(set) var open: [String: Open] = [:]
  private var byName: [String: String] = [:]

  /// Opens, blocking, what is used or holds uploads, and not open yet.
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
        open[settings.path] = try Self.open(settings, workers, longWorkers, events, clock)
      } catch {
        for (path, entry) in open where old?.open[path] == nil { entry.store.close() }
        throw .storage(settings.path, "\(error)")
      }
    }
    for settings in configuration.spools where open[settings.path] == nil {
      open[settings.path] = Self.reopen(settings, workers, longWorkers, events, clock)
    }
    let builtIn = configuration.builtInSpool
    guard open[builtIn.path] == nil else { return }
    if configuration.spool(named: builtIn.name) == nil {
      open[builtIn.path] = Self.reopen(builtIn, workers, longWorkers, events, clock)
    } else {
      Self.noteLeftBehind(builtIn, events)
    }
  }

  /// The spool of that name is elsewhere now. Whether what is here was copied there nobody knows: sent from both places, an
  /// application would have it twice.
  private static func noteLeftBehind(_ settings: SpoolSettings, _ events: EventLog) {
    do throws(StoreError) {
      guard try UploadCatalogueReading.hasUploads(settings.path) else { return }
    } catch { return }
    events.log(
      .warning, "spool-left-behind",
      ["path": settings.path, "why": "it holds uploads, and [spool:\(settings.name)] has another path"])
  }

  private static func open(
    _ settings: SpoolSettings, _ workers: WorkerPool, _ longWorkers: WorkerPool?, _ events: EventLog,
    _ clock: any LoopClock
  ) throws(StoreError) -> Open {
    let store = try UploadStore(settings.forStore, pool: workers, longJobs: longWorkers, events: events, clock: clock)
    return Open(
      settings: settings, store: store, plain: PlainSpool(directory: settings.path, store: store, pool: workers))
  }

  /// One that nothing uses now: uploads that it holds have URLs that were given out, and are gone on with. Where it cannot
  /// be opened, nothing else waits for it.
  private static func reopen(
    _ settings: SpoolSettings, _ workers: WorkerPool, _ longWorkers: WorkerPool?, _ events: EventLog,
    _ clock: any LoopClock
  ) -> Open? {
    do throws(StoreError) {
      guard try UploadCatalogueReading.hasUploads(settings.path) else { return nil }
      return try open(settings, workers, longWorkers, events, clock)
    } catch {
      events.log(.warning, "spool-not-opened", ["path": settings.path, "why": "\(error)"])
      return nil
    }
  }

  subscript(name: String) -> Open? { byName[name].flatMap { open[$0] } }

  var stores: [UploadStore] { open.values.map(\.store) }

  /// Those that routes use come first.
  var all: [Open] {
    let used = Set(byName.values)
    return open.filter { used.contains($0.key) }.map(\.value) + open.filter { !used.contains($0.key) }.map(\.value)
  }

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
