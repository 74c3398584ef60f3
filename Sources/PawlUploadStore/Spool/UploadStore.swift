import CLinux
import PawlBase
package import PawlDisk
package import PawlLoop
package import PawlObserve

/// A spool directory: uploads, their journal and their bytes. Every method may be called on any thread unless it says
/// otherwise; completions run on the loop that was given, never within the call.
package final class UploadStore: Sendable {
  let core: SpoolCore
  private let catalogue: Catalogue
  let directoryLock: DirectoryLock
  private let isClosed = Locked(false)

  /// Opens the spool and recovers what is in it, blocking: before the loops start.
  ///
  /// A catalogue that is corrupt is moved aside together with the bodies, and the spool is empty.
  /// - Parameters:
  ///   - longJobs: for what takes as long as an upload is large; `nil`: `pool`.
  ///   - boot: names the run of the kernel; `nil`: as the kernel says. What was written and not synced counts in the same
  ///     run only.
  /// - Throws: ``StoreError/inUse(path:)`` when another process has the directory, ``StoreError/full``,
  ///   ``StoreError/system(call:path:errno:)``, ``StoreError/catalogue(code:message:)`` for another version's spool.
  package init(
    _ settings: UploadStoreSettings, pool: WorkerPool, longJobs: WorkerPool? = nil, events: EventLog,
    clock: any LoopClock = SystemClock(), boot: ObjectID? = nil
  ) throws(StoreError) {
    directoryLock = try DirectoryLock(settings.path)
    let database = try UploadCatalogue.open(in: settings.path, events)
    try Self.makeBodies(settings.path)
    let reader = try Database(path: UploadCatalogue.path(in: settings.path), isReader: true)
    core = SpoolCore(
      settings, pool: pool, longJobs: longJobs ?? pool, events: events, clock: clock,
      budget: try Self.makeBudget(settings), reader: reader)
    try core.spares.open()
    var run = boot
    if run == nil { run = try KernelRun.runningBoot() }
    var recovery = UploadRecovery(core, database, boot: run ?? ObjectID.make())
    let counts = try recovery.recover()
    core.noteAlive()
    let ticker = UploadTicker(core)
    catalogue = try Catalogue(database, directory: settings.path, events: events) { ticker.tick() }
    core.catalogue = catalogue
    try catalogue.start()
    events.log(
      .info, "spool-opened",
      [
        "spool": settings.name, "uploads": "\(counts.live)", "bytes": "\(core.budget.disk.used)",
        "max-size": "\(capacity)", "same-boot": counts.isSameBoot ? "yes" : "no",
      ])
  }

  deinit { close() }

  private static func makeBodies(_ path: String) throws(StoreError) {
    guard !Files.exists(path + "/bodies") else { return }
    try Files.makeDirectories(path + "/bodies")
    try Files.syncDirectory(path)
  }

  private static func makeBudget(_ settings: UploadStoreSettings) throws(StoreError) -> UploadBudget {
    let space = try Files.space(of: settings.path)
    let disk = DiskBudget(
      maxSize: settings.maxSize ?? max(space.total / 10, UploadStoreSettings.leastSize),
      minFree: settings.minFree ?? min(UploadStoreSettings.reserve, space.total / 20))
    disk.noteFree(space.free)
    return UploadBudget(
      disk, sharePercent: settings.maxSharePerClient, openLimit: settings.maxUploadsPerClient)
  }

  /// Makes everything durable and closes the catalogue, blocking, at the end.
  package func close() {
    let isFirst = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return !isClosed
    }
    guard isFirst else { return }
    for upload in core.takeRestless(since: core.clock.now()).restless {
      upload.syncNow()
      core.noteDirty(upload)
    }
    catalogue.barrier(durably: true)
    catalogue.close()
    core.noteAlive()
    core.catalogue = nil
    // Uploads hold the core, which holds the uploads.
    core.clear()
    core.spares.clear()
    directoryLock.release()
  }

  // MARK: Facts

  /// Bytes all uploads together may take.
  package var capacity: UInt64 { core.budget.disk.maxSize }
  /// Bytes of the largest upload that one client can bring.
  package var largestUpload: UInt64 { core.budget.share }
  /// Uploads that wait for their client go when it asked nothing for so long.
  package var expireAfter: Duration { core.settings.expireAfter }
  /// Bytes of uploads on disk, and promised to writers.
  package var usedBytes: UInt64 { core.budget.disk.used - min(core.budget.kept, core.budget.disk.used) }
  /// Bytes that are kept of uploads besides (``UploadRecord``).
  package var recordBytes: UInt64 { core.budget.kept }
  package var reservedBytes: UInt64 { core.budget.disk.reserved }

  /// `nil`, too, for an upload whose time is over.
  package func find(_ id: UploadID) -> SpooledUpload? { core.findLiving(id) }
  /// Whether there was such an upload within the last day, which ``find(_:)`` does not find.
  package func isTombstone(_ id: UploadID) -> Bool { core.isTombstone(id) || core.isOver(id) }
  /// All that are live.
  package var uploads: [SpooledUpload] { core.uploads }
  /// Whether the upload is one of this spool.
  package func holds(_ upload: SpooledUpload) -> Bool { upload.core === core }

  /// Runs on a thread of the store after an order of the operator was carried out: after
  /// ``UploadOrder/Kind/resend`` the upload is complete and somebody has to deliver it.
  package var onOrder: (@Sendable (UploadOrder, SpooledUpload) -> Void)? {
    get { core.onOrder.withLock { $0 } }
    set { core.onOrder.withLock { $0 = newValue } }
  }

  /// Waits until all that happened so far is recorded. Blocking; for tests.
  @discardableResult
  func flush() -> Bool { catalogue.barrier() }
}

extension UploadStore {
  /// Whether the directory of that path is this store's, which has it open.
  package func lives(at path: String) -> Bool { directoryLock.isOf(path) }

  /// The directory was moved: from now on it is there.
  package func move(to path: String) { core.place.move(to: path) }
}
