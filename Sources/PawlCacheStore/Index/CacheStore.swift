import CLinux
import PawlBase
package import PawlCache
package import PawlDisk
package import PawlLoop
package import PawlObserve

/// A cache, with its index in memory, and its catalogue and bodies in a directory. Every method may be called on any thread
/// unless it says otherwise. Methods with a completion do their disk work in the pool, and complete on the loop.
package final class CacheStore: @unchecked Sendable {
  // Safe: all properties are constant, and each object that changes has a lock of its own.
  let core: StoreCore
  var index: ResourceIndex { core.index }
  private let catalogue: Catalogue
  let directoryLock: DirectoryLock
  private let isClosed = Locked(false)
  /// The limits in use, and the size if none is configured.
  private let limits: Locked<CacheLimits>

  /// Opens the cache. Blocking; never on a loop.
  ///
  /// A catalogue that is corrupt or of another version is moved aside, and the cache is empty. Files without a row are removed in
  /// the pool afterwards. If pawl had ended without closing the cache, incomplete objects are verified when they are first used.
  /// - Throws: ``StoreError/inUse(path:)`` when another process has the directory open, ``StoreError/full``,
  ///   ``StoreError/system(call:path:errno:)``.
  package init(
    _ settings: CacheStoreSettings, pool: WorkerPool, events: EventLog, clock: any LoopClock = SystemClock()
  ) throws(StoreError) {
    directoryLock = try DirectoryLock(settings.path)
    try Self.makeBodyDirectories(settings.path)
    let opened = try CatalogueFile.open(in: settings.path, hasPacks: Packs.areThere(in: settings.path), events)
    let (budget, usualSize) = try Self.makeBudget(settings, opened)
    limits = Locked(CacheLimits(settings, usualSize: usualSize))
    let reader = try CatalogueReader(path: CatalogueFile.path(in: settings.path))
    let place = StorePlace(settings.path)
    let packs = Packs(
      place, packedObject: settings.packedObject, mostPacks: settings.mostPacks, seed: opened.seed, pool: pool,
      events: events, budget: budget, clock: clock)
    let packed = try packs.open()
    budget.charge(packed.size)
    core = StoreCore(
      settings: settings, place: place, pool: pool, events: events, clock: clock, budget: budget, reader: reader,
      index: ResourceIndex(
        seed: opened.seed, hashes: opened.index.hashes, packed: packed.entries, limit: settings.loadedResources),
      trees: OutdatedTrees(opened.index.outdated),
      nextNumber: max(opened.index.nextNumber, packed.lastNumber + 1),
      ledger: Self.makeLedger(settings, opened, events))
    core.packs = packs
    let ticker = Ticker(core)
    let ledger = core.ledger
    catalogue = try Catalogue(
      opened.database, directory: settings.path, events: events,
      onBatch: { ledger.map { CatalogueChanges(list: $0.batchBegins()) } },
      onCommit: { ledger?.batchIsCommitted() }
    ) { ticker.tick() }
    core.catalogue = catalogue
    try catalogue.start()
    events.log(
      .info, "cache-opened",
      [
        "cache": settings.name, "objects": "\(opened.index.hashes.count + packed.entries.count)",
        "bytes": "\(opened.index.heldBytes + packed.size)",
        "max-size": "\(budget.maxSize)", "clean": opened.wasClean ? "yes" : "no", "path": settings.path,
        "min-free": "\(budget.minFree)", "free": "\(budget.free ?? 0)",
      ])
    core.pool.run { [core] in
      core.spares.refill(core)
      if packs.isWriting { packs.makeSpare() }
    }
    removeOrphans()
  }

  deinit { close() }

  /// Tells processes that want this directory that it will soon be free (``DirectoryLock/announceEnd()``). Blocking.
  package func announceEnd() { directoryLock.announceEnd() }

  /// Gives the directory to another process, while downloads go on here. Everything written is made durable and recorded, then the
  /// directory is unlocked. From then on this object writes, makes, cuts and removes nothing in it: fills stream what is missing
  /// through memory, as when the disk is full, and readers read on from files that they have open. The other process may remove
  /// these files, which does not disturb the readers. Blocking; on no loop.
  package func handOver() {
    core.handedOver.store(1)
    core.awaitWrites()
    core.emptying.withLock { _ in close() }
  }

  /// Makes everything durable and closes the catalogue. Blocking. No write, publish or load may follow.
  package func close() {
    let isFirst = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return !isClosed
    }
    guard isFirst else { return }
    core.flushUses()
    core.spares.close(core)
    for body in core.rewriting.withLock({ Array($0.values) }) { body.rewrite() }
    core.durability.syncAll(core)
    core.packs?.close()
    let isRecorded = catalogue.barrier(durably: true)
    if isRecorded { core.submit([.meta("clean", 1)], durably: true) }
    catalogue.close()
    core.catalogue = nil
    core.packs = nil
    // The index is emptied because bodies refer to the core, which refers to the index, which refers to bodies.
    index.clear()
    directoryLock.release()
  }

  // MARK: Opening

  private static func makeBodyDirectories(_ path: String) throws(StoreError) {
    let bodies = path + "/bodies"
    let isNew = !Files.exists(bodies + "/ff")
    for byte in 0...255 {
      let name = String(byte, radix: 16)
      try Files.makeDirectories("\(bodies)/\(byte < 16 ? "0" : "")\(name)")
    }
    if isNew {
      try Files.syncDirectory(bodies)
      try Files.syncDirectory(path)
    }
  }

  /// Opens the ledger. Without it the cache works. But if the process is killed, bytes that the catalogue has not recorded yet
  /// are lost.
  private static func makeLedger(
    _ settings: CacheStoreSettings, _ opened: CatalogueFile.Opened, _ events: EventLog
  ) -> Ledger? {
    do throws(StoreError) {
      let ledger = try Ledger(in: settings.path, sequence: opened.ledgerSequence)
      try CatalogueSchema.setMeta(opened.database, Ledger.gapName, 0)
      return ledger
    } catch {
      events.log(.warning, "ledger-failed", ["path": settings.path, "why": "\(error)"])
      return nil
    }
  }

  /// The bytes that bodies leave free on the file system even if `min-free` is less, because the catalogue and its journal need
  /// them.
  package static let leastFree: UInt64 = 8 << 20

  private static func makeBudget(
    _ settings: CacheStoreSettings, _ opened: CatalogueFile.Opened
  ) throws(StoreError) -> (DiskBudget, usualSize: UInt64?) {
    let used = opened.index.heldBytes + UInt64(opened.index.hashes.count) * DiskBudget.objectOverhead
    let free = try Files.space(of: settings.path).free
    // The default is computed from the free space at the first start, because later the cache itself has used much of it.
    var usualSize = try CatalogueSchema.meta(opened.database, "max_size").map { UInt64(clamping: $0) }
    if usualSize == nil, settings.maxSize == nil {
      let size = Self.usualSize(used: used, free: free)
      usualSize = size
      try CatalogueSchema.setMeta(opened.database, "max_size", Int64(clamping: size))
    }
    let budget = DiskBudget(
      maxSize: settings.maxSize ?? usualSize ?? .max, minFree: max(settings.minFree, Self.leastFree))
    budget.charge(used)
    budget.noteFree(free)
    return (budget, usualSize)
  }

  /// The size of a cache whose size is not configured: 80 % of what is free when it is opened first.
  static func usualSize(used: UInt64, free: UInt64) -> UInt64 { (used + free) / 5 * 4 }

  // MARK: Facts

  /// Bytes on disk, with 4 KiB for each object's rows.
  package var usedBytes: UInt64 { core.budget.used }
  /// Bytes that are reserved for fills.
  package var reservedBytes: UInt64 { core.budget.reserved }
  package var maxSize: UInt64 { core.budget.maxSize }
  /// Bytes that bodies leave free on the file system.
  package var minFree: UInt64 { core.budget.minFree }
  /// Bytes free on the file system at the last check, at most seconds ago; `nil`: not checked yet.
  package var freeBytes: UInt64? { core.budget.free }
  package var path: String { core.directory }
  /// Whether a body of this size could be stored, perhaps after others were evicted.
  package func hasRoom(for bytes: UInt64) -> Bool { core.budget.shortfall(bytes) != nil }
  /// Bytes of responses that are incomplete, as of the last ten seconds.
  package var partialBytes: UInt64 { UInt64(core.partialBytes.load()) }

  package var statistics: StoreStatistics {
    var statistics = core.counters.withLock { $0 }
    statistics.resources = index.count
    statistics.openBodies = core.openBodies.count
    statistics.memoryBytes = core.memory.bytes
    statistics.usedBytes = usedBytes
    statistics.reservedBytes = reservedBytes
    return statistics
  }

  /// Waits until all changes so far are recorded. Blocking; for tests.
  func flush() { catalogue.barrier() }

  // MARK: Index

  /// Returns the resource with this key; `nil` if there is none. On the hot path. The caller has to check
  /// ``ResourceState/isLoaded`` before it uses the responses.
  package func resource(authority: UnsafeRawBufferPointer, target: UnsafeRawBufferPointer) -> Resource? {
    guard let found = index.find(authority, target) else { return nil }
    if found.withLock({ !$0.isLoaded }) { loadAtOnce(found) }
    return found
  }

  /// The result of ``look(authority:target:in:now:)``.
  package enum Looked {
    case resource(Resource)
    /// An answer that was decided for the only object under this key, which is at rest in a pack and stays there, without being
    /// loaded. The answer is in ``PackRoom/hit``.
    case record
  }

  /// Looks a key up like ``resource(authority:target:)``, with two differences. An object at rest is not loaded if its record is
  /// in the page cache and has an answer. And a resource that is returned may be one that is not loaded yet; then the caller
  /// calls ``loadAtOnce(_:)``.
  ///
  /// Runs on the loop that `room` belongs to. If `room` is `nil`, an object at rest is loaded.
  package func look(
    authority: UnsafeRawBufferPointer, target: UnsafeRawBufferPointer, in room: PackRoom?, now: Monotonic
  ) -> Looked? {
    switch index.look(authority, target) {
    case .resource(let resource)?: return .resource(resource)
    case .record(let place)?:
      if let room, let packs = core.packs, let pack = packs.pack(place.pack),
        let hit = pack.hit(place, in: room, authority: authority, target: target, seed: packs.seed, now: now),
        hit.number > core.trees.newest || !core.trees.covers(authority, target, number: hit.number)
      {
        room.hit = hit
        return .record
      }
    case nil: break
    }
    return resource(authority: authority, target: target).map { .resource($0) }
  }

  package func resource(for key: CacheKey, create: Bool) -> Resource? { index.find(key, create: create) }

  /// Removes the resource from the index if nothing is stored or fetched under its key.
  package func remove(_ resource: Resource) { index.removeIfEmpty(resource) }

  /// Notes that a response was given to a client. The order of eviction and the bodies that are kept in memory depend on that.
  package func noteUse(_ response: StoredResponse) {
    let body = response.body
    if body.noteUse(at: core.clock.wallSeconds()) { core.used.withLock { $0[ObjectIdentifier(body)] = body } }
    if body.wantsMemory() { body.promote() }
  }
}

/// The work that is done once a second, on the catalogue's thread.
private final class Ticker: @unchecked Sendable {
  // Safe: used on the catalogue's thread only.
  private unowned let core: StoreCore
  private var count = 0

  init(_ core: StoreCore) { self.core = core }

  func tick() {
    count += 1
    core.durability.tick(core)
    if count % 10 == 0 { core.flushUses() }
    let measures = count % 10 == 1
    core.pool.run { [core] in
      core.watchFreeSpace()
      if measures { core.measurePartial() }
      core.openBodies.trim()
      core.packs?.sync()
      core.cleanPacks()
      core.index.unload(
        beyond: core.settings.loadedResources, responses: Int(clamping: core.bodyCount.load()),
        now: core.clock.wallSeconds())
    }
  }
}

extension StoreCore {
  /// Records which bodies were used since the last call.
  func flushUses() {
    let bodies = used.withLock { used in
      defer { used = [:] }
      return Array(used.values)
    }
    let changes = bodies.compactMap { $0.takeUse() }
    if !changes.isEmpty { submit(changes) }
  }
}

extension CacheStore {
  /// Uses the limits of other settings from now on (``CacheLimits``). What is too much then is removed in small steps, in the pool.
  package func change(to settings: CacheStoreSettings) {
    let limits = limits.withLock { limits in
      if limits.usualSize == nil, settings.maxSize == nil { limits.usualSize = noteUsualSize() }
      limits = CacheLimits(settings, usualSize: limits.usualSize)
      return limits
    }
    core.use(limits)
  }

  /// The limits in use.
  package var limitsInUse: CacheLimits { limits.withLock { $0 } }

  private func noteUsualSize() -> UInt64? {
    do throws(StoreError) {
      let size = Self.usualSize(used: usedBytes, free: try Files.space(of: core.directory).free)
      core.submit([.meta("max_size", Int64(clamping: size))])
      return size
    } catch {
      core.events.log(.warning, "cache-space-unknown", ["path": core.directory, "why": "\(error)", "omitted": "0"])
      return nil
    }
  }

  /// Whether this store has the directory at that path open.
  package func lives(at path: String) -> Bool { directoryLock.isOf(path) }

  /// The number of descriptors that the packs hold when the cache is full.
  package var descriptorsWhenFull: Int { core.packs?.descriptorsWhenFull ?? 0 }

  /// Notes that the directory was moved to another path.
  package func move(to path: String) { core.place.move(to: path) }
}
