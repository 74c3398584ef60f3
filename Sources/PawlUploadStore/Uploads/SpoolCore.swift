import CLinux
import PawlBase
import PawlDisk
import PawlLoop
import PawlObserve
import PawlUpload

/// The state that all parts of one spool share.
final class SpoolCore: Sendable {
  private let settingsInUse: Locked<UploadStoreSettings>
  private let durability: AtomicWord
  let pool: WorkerPool
  /// The pool for work that takes longer for larger uploads. It is separate, so that syncs need not wait for such work.
  let longJobs: WorkerPool
  let events: EventLog
  let clock: any LoopClock
  let budget: UploadBudget
  /// The monotonic and the wall clock time at which the spool was opened.
  let startedAt: Monotonic
  let startedWall: Int64
  /// A SQLite connection that reads the catalogue while the catalogue's thread may write. Used in the pool.
  let reader: Locked<Database>
  let spares: UploadFileSpares
  let place: StorePlace
  private let catalogueBox = Locked<Catalogue?>(nil)
  private let live = Locked([UploadID: SpooledUpload]())
  private let tombstones = Locked([UploadID: Int64]())
  /// The uploads that need regular work, for example because they have bytes that are not durable yet, or promised (reserved)
  /// space.
  private let restless = Locked([UploadID: SpooledUpload]())
  let onOrder = Locked<(@Sendable (UploadOrder, SpooledUpload) -> Void)?>(nil)
  /// 1 once the directory belongs to another process (``UploadStore/handOver(lendingTo:)``). From then on nothing is written, cut, made or
  /// removed in it.
  let handedOver = AtomicWord(0)
  /// How many uploads are being created.
  let creations = AtomicWord(0)
  var isHandedOver: Bool { handedOver.load() != 0 }
  /// Records the steps of the deliveries that go on here after ``UploadStore/handOver(lendingTo:)``. Set before ``handedOver``.
  private let lenderBox = Locked<(any UploadLender)?>(nil)
  var lender: (any UploadLender)? {
    get { isHandedOver ? lenderBox.withLock { $0 } : nil }
    set { lenderBox.withLock { $0 = newValue } }
  }
  /// Orders that are being carried out.
  let carried = Locked(Set<Int64>())

  init(
    _ settings: UploadStoreSettings, pool: WorkerPool, longJobs: WorkerPool, events: EventLog, clock: any LoopClock,
    budget: UploadBudget, reader: Database
  ) {
    (settingsInUse, self.pool, self.longJobs) = (Locked(settings), pool, longJobs)
    durability = AtomicWord(settings.isDurable ? 1 : 0)
    (self.events, self.clock) = (events, clock)
    (self.budget, self.reader) = (budget, Locked(reader))
    place = StorePlace(settings.path)
    spares = UploadFileSpares(in: place, events)
    (startedAt, startedWall) = (clock.now(), clock.wallSeconds())
  }

  /// The settings in use. A reload may change them.
  var settings: UploadStoreSettings {
    get { settingsInUse.withLock { $0 } }
    set {
      settingsInUse.withLock { $0 = newValue }
      durability.store(newValue.isDurable ? 1 : 0)
    }
  }

  /// Whether clients are told an offset only after its bytes are synced.
  var isDurable: Bool { durability.load() == 1 }

  /// The catalogue. It is set once, before the spool is used, and is `nil` after the spool is closed.
  var catalogue: Catalogue? {
    get { catalogueBox.withLock { $0 } }
    set { catalogueBox.withLock { $0 = newValue } }
  }

  var bodies: String { place.path + "/bodies" }
  func path(of id: UploadID) -> String { "\(bodies)/\(id.hex)" }

  // MARK: The catalogue

  /// Logs the event if `step` is ``UploadStep/impossible``, which means a mistake in pawl; otherwise does nothing.
  func note(_ event: UploadEvent, of id: UploadID, _ step: UploadStep) {
    guard step == .impossible else { return }
    events.log(.error, "upload-internal-error", ["upload": id.hex, "event": "\(event)"])
  }

  func submit(_ changes: [UploadChange], durably: Bool = false, then completion: (@Sendable (Bool) -> Void)? = nil) {
    guard let catalogue else {
      completion?(false)
      return
    }
    catalogue.submit(
      UploadChanges(list: changes), durably: durably && isDurable, isUrgent: completion != nil,
      then: completion)
  }

  /// Records the state that the upload has when the commit is made. `durably` has no effect if the spool is configured not to be
  /// durable.
  func record(_ upload: SpooledUpload, durably: Bool = true, then completion: @escaping @Sendable (Bool) -> Void) {
    guard let catalogue else { return completion(false) }
    catalogue.record(upload, durably: durably && isDurable, then: completion)
  }

  func noteDirty(_ upload: SpooledUpload, soon: Bool = false) { catalogue?.noteDirty(upload, soon: soon) }

  /// Runs `work` in the pool, or at once on this thread if the pool has stopped.
  func perform(_ work: @escaping @Sendable () -> Void) { if !pool.run(work) { work() } }

  // MARK: Uploads

  var uploads: [SpooledUpload] { live.withLock { Array($0.values) } }
  func find(_ id: UploadID) -> SpooledUpload? { live.withLock { $0[id] } }
  func isTombstone(_ id: UploadID) -> Bool { tombstones.withLock { $0[id] != nil } }

  /// Adds an upload. `false`: its id is in use.
  func add(_ upload: SpooledUpload) -> Bool {
    guard !isTombstone(upload.id) else { return false }
    return live.withLock { live in
      guard live[upload.id] == nil else { return false }
      live[upload.id] = upload
      return true
    }
  }

  func remove(_ upload: SpooledUpload) {
    let removed = live.withLock { $0.removeValue(forKey: upload.id) }
    let calmed = restless.withLock { $0.removeValue(forKey: upload.id) }
    withExtendedLifetime((removed, calmed)) {}
  }

  func bury(_ id: UploadID, at time: Int64) { tombstones.withLock { $0[id] = time } }

  /// Removes and returns the tombstones that are older than `time`, and the oldest ones if there are more than `limit`.
  func takeTombstones(before time: Int64, limit: Int) -> [UploadID] {
    tombstones.withLock { tombstones in
      var old = tombstones.filter { $0.value < time }.map(\.key)
      for id in old { tombstones[id] = nil }
      if tombstones.count > limit {
        let oldest = tombstones.sorted { $0.value < $1.value }.prefix(tombstones.count - limit).map(\.key)
        for id in oldest { tombstones[id] = nil }
        old += oldest
      }
      return old
    }
  }

  /// Adds an upload to the list of those that are looked after once a second, until it needs no more work (``UploadState/isCalm``).
  func stir(_ upload: SpooledUpload) { restless.withLock { $0[upload.id] = upload } }
  /// Returns the uploads that still need regular work, and those that do not need it any more and are removed from the list.
  /// - Parameter moment: an upload that was written to after this moment stays in the list: it may be delivered soon, and its file
  ///   stays open.
  func takeRestless(since moment: Monotonic) -> (restless: [SpooledUpload], calmed: [SpooledUpload]) {
    restless.withLock { restless in
      // A write after this check adds the upload to the list again (``stir(_:)``).
      let calmed = restless.values.filter { upload in
        upload.state.withLock { $0.isCalm && $0.lastWrite <= moment && $0.isFileIdle }
      }
      for upload in calmed { restless[upload.id] = nil }
      return (Array(restless.values), calmed)
    }
  }

  func clear() {
    let (live, restless) = (live.withLock { $0.take() }, restless.withLock { $0.take() })
    withExtendedLifetime((live, restless)) {}
  }
}

extension Dictionary {
  fileprivate mutating func take() -> Self {
    defer { self = [:] }
    return self
  }
}
