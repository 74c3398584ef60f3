import PawlConfig
import PawlDisk
import PawlLoop
import PawlObserve
import PawlUpload
import PawlUploadStore

/// The open spools by directory: those that routes use, and those that still hold uploads though no route uses them. Kept over
/// reloads.
struct UploadSpools: Sendable {
  private(set) var open: [String: OpenSpool] = [:]
  /// The stores that this initializer opened.
  private(set) var opened: [UploadStore] = []
  /// The uploads that were found sent, without a response, when this initializer opened their stores. Noted before any request is
  /// served, because a client may have an upload sent that was found complete.
  private(set) var foundSent: Set<UploadID> = []
  private var byName: [String: String] = [:]
  /// The uploads that another process delivered when the spools were opened.
  private let lent: Set<UploadID>

  /// Opens the spools that are not open yet, if a route uses them or they hold uploads. Blocking.
  init(
    _ configuration: Configuration, workers: WorkerPool, longWorkers: WorkerPool? = nil, events: EventLog,
    clock: any LoopClock, old: UploadSpools?, lent: Set<UploadID> = []
  ) throws(ServerError) {
    self.lent = lent
    open = old?.open ?? [:]
    for settings in configuration.spools + [configuration.builtInSpool] { follow(settings, workers) }
    let known = Set(open.values.map { ObjectIdentifier($0.store) })
    defer {
      opened = stores.filter { !known.contains(ObjectIdentifier($0)) }
      foundSent = Set(opened.flatMap(\.uploads).filter { $0.status.phase == .sent && !$0.isLent }.map(\.id))
    }
    let used = Set(
      configuration.sites.flatMap { [$0.settings] + $0.routes.map(\.settings) }.filter(\.usesSpool).map(\.spool))
    for settings in configuration.spools {
      if let same = open[settings.path], same.settings != settings {
        open[settings.path] = OpenSpool(
          settings: settings, store: same.store, plain: same.plain, buffers: same.buffers)
      }
    }
    for settings in configuration.spools where used.contains(settings.name) {
      byName[settings.name] = settings.path
      if open[settings.path] != nil { continue }
      do throws(StoreError) {
        open[settings.path] = try openStore(settings, workers, longWorkers, events, clock)
      } catch {
        for (path, entry) in open where old?.open[path] == nil { entry.store.close() }
        throw .storage(settings.path, "\(error)")
      }
    }
    let builtIn = configuration.builtInSpool
    let isBuiltIn = configuration.spool(named: builtIn.name) == nil
    let named = configuration.spools + (isBuiltIn ? [builtIn] : [])
    let noted = Self.former(configuration, events)
    for settings in named + noted where open[settings.path] == nil {
      open[settings.path] = reopen(settings, workers, longWorkers, events, clock)
    }
    if open[builtIn.path] == nil, !isBuiltIn { Self.noteLeftBehind(builtIn, events) }
    let others = noted.filter { open[$0.path] == nil && Self.mayHoldUploads($0) } + open.values.map(\.settings)
    let paths = Set(named.map(\.path))
    try noteFormer(others.filter { !paths.contains($0.path) }, configuration, isReload: old != nil, events)
  }

  /// Gives the open spools the settings of their sections. They hold at once, for present uploads, too.
  func useSettings() { for entry in open.values { entry.store.change(to: entry.settings.forStore) } }

  // MARK: Directories that move, and those that no section names any more

  /// Updates the path of an open spool whose directory was moved.
  private mutating func follow(_ settings: SpoolSettings, _ workers: WorkerPool) {
    guard open[settings.path]?.store.lives(at: settings.path) != true,
      let (path, entry) = open.first(where: { $0.value.store.lives(at: settings.path) })
    else { return }
    entry.store.move(to: settings.path)
    open[path] = nil
    open[settings.path] = Self.entry(settings, entry.store, workers)
  }

  private static func former(_ configuration: Configuration, _ events: EventLog) -> [SpoolSettings] {
    do throws(StoreError) {
      return try FormerSpools.read(in: configuration.process.stateDirectory).map { entry in
        var settings = SpoolSettings(name: "former", path: entry.path)
        (settings.expireAfter, settings.maxAge) = (entry.expireAfter, entry.maxAge)
        return settings
      }
    } catch {
      events.log(.warning, "former-spools-unread", ["why": "\(error)"])
      return []
    }
  }

  /// Whether the directory holds uploads, or may hold some because it cannot be read now.
  private static func mayHoldUploads(_ settings: SpoolSettings) -> Bool {
    do throws(StoreError) { return try UploadCatalogueReading.hasUploads(settings.path) } catch { return true }
  }

  /// Writes the directories of spools that the settings do not name into a file, which pawl reads when it starts the next time.
  /// A reload that cannot write this file fails, since uploads would be lost.
  private func noteFormer(
    _ spools: [SpoolSettings], _ configuration: Configuration, isReload: Bool, _ events: EventLog
  ) throws(ServerError) {
    let former = spools.map { settings in
      FormerSpools.Entry(path: settings.path, expireAfter: settings.expireAfter, maxAge: settings.maxAge)
    }
    let directory = configuration.process.stateDirectory
    do throws(StoreError) {
      try FormerSpools.write(former.sorted { $0.path < $1.path }, in: directory)
    } catch {
      guard !isReload else { throw .storage(directory, "uploads in other directories would be lost: \(error)") }
      events.log(.warning, "former-spools-not-noted", ["path": directory, "why": "\(error)"])
    }
  }

  /// Logs that the former directory of a spool still holds uploads, after the path of the spool was changed. These uploads are
  /// not used, because they may have been copied to the new path, and the origin would get each of them twice.
  private static func noteLeftBehind(_ settings: SpoolSettings, _ events: EventLog) {
    do throws(StoreError) {
      guard try UploadCatalogueReading.hasUploads(settings.path) else { return }
    } catch { return }
    events.log(
      .warning, "spool-left-behind",
      ["path": settings.path, "why": "it holds uploads, and [spool:\(settings.name)] has another path"])
  }

  private func openStore(
    _ settings: SpoolSettings, _ workers: WorkerPool, _ longWorkers: WorkerPool?, _ events: EventLog,
    _ clock: any LoopClock
  ) throws(StoreError) -> OpenSpool {
    let store = try UploadStore(
      settings.forStore, pool: workers, longJobs: longWorkers, events: events, clock: clock, lent: lent)
    let unsettled: Set<UploadPhase> = [.open, .complete, .forwarding, .sent, .unknown]
    for upload in store.uploads where unsettled.contains(upload.status.phase) {
      // If the directory is a copy of another one, the origin would get each upload twice.
      let twin = open.first { _, other in other.store.find(upload.id) != nil || other.store.isTombstone(upload.id) }
      guard let twin else { continue }
      store.close()
      throw .catalogue(code: 0, message: "uploads in it are in \(twin.key), too")
    }
    return Self.entry(settings, store, workers)
  }

  private static func entry(_ settings: SpoolSettings, _ store: UploadStore, _ workers: WorkerPool) -> OpenSpool {
    OpenSpool(
      settings: settings, store: store, plain: PlainSpool(directory: settings.path, store: store, pool: workers),
      buffers: BufferSpace(directory: settings.path, budget: BufferBudget(of: store), pool: workers))
  }

  /// Opens a spool that no route uses, if it holds uploads: clients have the URLs of these uploads and may go on. A failure is
  /// logged only, since nothing else depends on it.
  private func reopen(
    _ settings: SpoolSettings, _ workers: WorkerPool, _ longWorkers: WorkerPool?, _ events: EventLog,
    _ clock: any LoopClock
  ) -> OpenSpool? {
    do throws(StoreError) {
      guard try UploadCatalogueReading.hasUploads(settings.path) else { return nil }
      return try openStore(settings, workers, longWorkers, events, clock)
    } catch {
      events.log(.warning, "spool-not-opened", ["path": settings.path, "why": "\(error)"])
      return nil
    }
  }

  subscript(name: String) -> OpenSpool? { byName[name].flatMap { open[$0] } }

  var stores: [UploadStore] { open.values.map(\.store) }

  /// All open spools; those that routes use come first.
  var all: [OpenSpool] {
    let used = Set(byName.values)
    return open.filter { used.contains($0.key) }.map(\.value) + open.filter { !used.contains($0.key) }.map(\.value)
  }

  /// Closes all stores; blocking.
  func close() { for store in stores { store.close() } }
}

extension SpoolSettings {
  var forStore: UploadStoreSettings {
    UploadStoreSettings(
      name: name, path: path, maxSize: maxSize, expireAfter: expireAfter, maxAge: maxAge,
      isDurable: durability == .data, maxUploadsPerClient: maxUploadsPerClient, maxSharePerClient: maxSharePerClient)
  }
}
