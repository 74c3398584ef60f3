import CLinux
import PawlBase
package import PawlDisk
package import PawlLoop
package import PawlObserve

/// A spool: a directory with uploads, their catalogue and their bytes. Every method may be called on any thread unless its comment
/// restricts that. Completions run on the given loop, never within the call.
package final class UploadStore: Sendable {
  let core: SpoolCore
  private let catalogue: Catalogue
  /// The size of the file system in bytes, when the spool was opened.
  private let fileSystemSize: UInt64
  let directoryLock: DirectoryLock
  private let isClosed = Locked(false)

  /// Opens the spool and recovers its uploads. Blocking: do not call this on a loop.
  ///
  /// A corrupt catalogue is moved aside together with the bodies, and the spool is empty then.
  /// - Parameters:
  ///   - longJobs: the pool for work that takes longer for larger uploads; `nil`: `pool`.
  ///   - lent: the uploads that another process delivers. Their rows and files are left as they are.
  ///   - boot: the identity of the run of the kernel; `nil`: it is read from the kernel. Bytes that were written but not synced
  ///     count in the same run only.
  /// - Throws: ``StoreError/inUse(path:)`` when another process has the directory, ``StoreError/full``,
  ///   ``StoreError/system(call:path:errno:)``, ``StoreError/catalogue(code:message:)`` for another version's spool.
  package init(
    _ settings: UploadStoreSettings, pool: WorkerPool, longJobs: WorkerPool? = nil, events: EventLog,
    clock: any LoopClock = SystemClock(), lent: Set<UploadID> = [], boot: ObjectID? = nil
  ) throws(StoreError) {
    directoryLock = try DirectoryLock(settings.path)
    let database = try UploadCatalogue.open(in: settings.path, events)
    try Self.makeBodies(settings.path)
    let reader = try Database(path: UploadCatalogue.path(in: settings.path), isReader: true)
    let space = try Files.space(of: settings.path)
    fileSystemSize = space.total
    core = SpoolCore(
      settings, pool: pool, longJobs: longJobs ?? pool, events: events, clock: clock,
      budget: Self.makeBudget(settings, space), reader: reader)
    try core.spares.open()
    var run = boot
    if run == nil { run = try KernelRun.runningBoot() }
    var recovery = UploadRecovery(core, database, lent: lent, boot: run ?? ObjectID.make())
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
        "max-size": "\(capacity)", "same-boot": counts.isSameBoot ? "yes" : "no", "path": settings.path,
        "free": "\(core.budget.disk.free ?? 0)",
      ])
  }

  deinit { close() }

  private static func makeBodies(_ path: String) throws(StoreError) {
    guard !Files.exists(path + "/bodies") else { return }
    try Files.makeDirectories(path + "/bodies")
    try Files.syncDirectory(path)
  }

  private static func makeBudget(
    _ settings: UploadStoreSettings, _ space: (free: UInt64, total: UInt64)
  ) -> UploadBudget {
    let disk = DiskBudget(maxSize: settings.maxSize(of: space.total), minFree: settings.minFree(of: space.total))
    disk.noteFree(space.free)
    return UploadBudget(
      disk, sharePercent: settings.maxSharePerClient, openLimit: settings.maxUploadsPerClient)
  }

  /// Uses other limits and lifetimes from now on, for present uploads, too: what they have received stays, and what is being
  /// written goes on. The path does not change.
  package func change(to settings: UploadStoreSettings) {
    let total = fileSystemSize
    core.budget.setLimits(
      maxSize: settings.maxSize(of: total), minFree: settings.minFree(of: total),
      sharePercent: settings.maxSharePerClient, openLimit: settings.maxUploadsPerClient)
    core.settings = settings
  }

  /// The settings in use.
  package var settings: UploadStoreSettings { core.settings }

  /// Makes everything durable and closes the catalogue, at the end of the process. Blocking.
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
    // This breaks the cycle of references between the core and its uploads.
    core.clear()
    core.spares.clear()
    directoryLock.release()
  }

  /// Whether a request has the right to add bytes to one of the uploads, or waits for it, or creates one.
  package var isBeingWritten: Bool { core.creations.load() > 0 || core.uploads.contains(where: \.isBeingWritten) }

  /// Tells processes that want this directory that it will soon be free (``DirectoryLock/announceEnd()``). Blocking.
  package func announceEnd() { directoryLock.announceEnd() }

  /// Gives the directory to another process: no request of this one adds a byte from now on. What was written is synced and
  /// recorded, then the directory is unlocked. Blocking; on no loop.
  /// - Parameter lender: has the steps of the deliveries recorded that still run; `nil`: none may run.
  package func handOver(lendingTo lender: (any UploadLender)? = nil) {
    core.lender = lender
    core.handedOver.store(1)
    for upload in core.uploads {
      while upload.state.withLock({ $0.hold.work != .idle }) { usleep(200) }
    }
    close()
  }

  // MARK: Facts

  /// The most bytes of all uploads together.
  package var capacity: UInt64 { core.budget.disk.maxSize }
  /// The most bytes of a single upload: the share of one client.
  package var largestUpload: UInt64 { core.budget.share }
  /// How long after its last byte an incomplete upload is removed.
  package var expireAfter: Duration { core.settings.expireAfter }
  /// Bytes of uploads on disk, without their records.
  package var usedBytes: UInt64 { core.budget.disk.used - min(core.budget.kept, core.budget.disk.used) }
  /// Bytes of the records of uploads (``UploadRecord``).
  package var recordBytes: UInt64 { core.budget.kept }
  package var reservedBytes: UInt64 { core.budget.disk.reserved }
  /// Bytes that uploads leave free on the file system.
  package var minFree: UInt64 { core.budget.disk.minFree }
  /// Bytes free on the file system at the last check; `nil`: not checked yet.
  package var freeBytes: UInt64? { core.budget.disk.free }
  /// The name in `[spool:NAME]`.
  package var name: String { core.settings.name }
  /// Whether an upload of this size could begin.
  package func hasRoom(for bytes: UInt64) -> Bool { core.budget.disk.shortfall(bytes) == 0 }

  /// Returns the upload; `nil`: there is none, or it has expired.
  package func find(_ id: UploadID) -> SpooledUpload? { core.findLiving(id) }
  /// Whether the upload was removed within the last day, or has expired. ``find(_:)`` returns `nil` for such an upload.
  package func isTombstone(_ id: UploadID) -> Bool { core.isTombstone(id) || core.isOver(id) }
  /// All uploads that are not removed.
  package var uploads: [SpooledUpload] { core.uploads }
  /// The uploads that another process delivers.
  package var lentUploads: [SpooledUpload] { core.uploads.filter(\.isLent) }
  /// Whether the upload is one of this spool.
  package func holds(_ upload: SpooledUpload) -> Bool { upload.core === core }

  /// Called on a thread of the store after an order of the operator was carried out. After ``UploadOrder/Kind/resend`` the upload
  /// is complete, and the callee has to deliver it.
  package var onOrder: (@Sendable (UploadOrder, SpooledUpload) -> Void)? {
    get { core.onOrder.withLock { $0 } }
    set { core.onOrder.withLock { $0 = newValue } }
  }

  /// Waits until all changes so far are recorded. Blocking; for tests.
  @discardableResult
  func flush() -> Bool { catalogue.barrier() }
}

extension UploadStore {
  /// Whether the directory at that path is the one that this store has open.
  package func lives(at path: String) -> Bool { directoryLock.isOf(path) }

  /// Notes that the directory was moved to this path.
  package func move(to path: String) { core.place.move(to: path) }
}
