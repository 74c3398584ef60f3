import CLinux
import PawlBase
import PawlDisk
import PawlLoop
import PawlObserve

/// The objects that the bodies of one cache share. The subclass ``StoreCore`` adds the index that finds bodies, and decides which
/// ones can be evicted.
class BodyCore: @unchecked Sendable {
  // Safe: all properties are constant, and each object that changes has a lock of its own.
  let place: StorePlace
  /// The settings with which the cache was opened. Of its limits only those are in use that a reload cannot change.
  let settings: CacheStoreSettings
  private let memoryObjectInUse: AtomicWord
  let pool: WorkerPool
  let events: EventLog
  let clock: any LoopClock
  let budget: DiskBudget
  let openBodies: OpenBodies
  let memory: MemoryBodies
  let durability: Durability
  let gathering: GatheringRoom
  /// Limits the log events that could otherwise come once for each body.
  let failures: FailureLog
  let counters = Locked(StoreStatistics())
  /// Bodies whose files exist but whose rows may not be committed yet. The sweep for orphans (files without a row) leaves these
  /// files alone.
  let unrecorded = Locked(Set<ObjectID>())
  let spares = BodyFileSpares()
  /// Objects that were removed although their rows may still exist.
  let doomed = Locked(DoomedObjects())
  private let packsBox = Locked<Packs?>(nil)
  /// Bodies whose record in a pack is being written anew.
  let rewriting = Locked([ObjectIdentifier: StoredBody]())
  private let moving = (0..<16).map { _ in Locked(()) }
  private let buffers = Locked([[UInt8]]())
  private let nextNumber: Locked<Int64>
  private let catalogueBox = Locked<Catalogue?>(nil)
  let reader: CatalogueReader
  /// The ledger; `nil` if its file could not be made.
  let ledger: Ledger?
  /// The bodies in memory that have a file of their own, by number.
  private let live = Locked([Int64: WeakBody]())
  private struct WeakBody { weak var body: StoredBody? }
  /// The charge of bodies in packs: zero, because ``Packs`` charges the bytes of records.
  let noCharge: DiskCharge
  /// Bodies whose last use is not recorded in the catalogue yet.
  let used = Locked([ObjectIdentifier: StoredBody]())

  init(
    settings: CacheStoreSettings, place: StorePlace, pool: WorkerPool, events: EventLog, clock: any LoopClock,
    budget: DiskBudget,
    reader: CatalogueReader, nextNumber: Int64, ledger: Ledger? = nil
  ) {
    self.ledger = ledger
    (self.place, self.settings, self.pool) = (place, settings, pool)
    (self.events, self.clock, self.budget, self.reader) = (events, clock, budget, reader)
    memoryObjectInUse = AtomicWord(UInt(settings.memoryObject))
    noCharge = DiskCharge(budget, bytes: 0)
    openBodies = OpenBodies(limit: settings.openBodies)
    memory = MemoryBodies(limit: settings.memory)
    durability = Durability()
    gathering = GatheringRoom(limit: settings.gathering)
    failures = FailureLog(events: events, clock: clock)
    self.nextNumber = Locked(nextNumber)
  }

  /// The catalogue. Set once before the store is used; `nil` after the store was closed.
  var catalogue: Catalogue? {
    get { catalogueBox.withLock { $0 } }
    set { catalogueBox.withLock { $0 = newValue } }
  }

  /// The packs of small objects. Set once before the store is used; `nil` after the store was closed.
  var packs: Packs? {
    get { packsBox.withLock { $0 } }
    set { packsBox.withLock { $0 = newValue } }
  }

  /// The largest body that is kept in memory, in bytes.
  var memoryObject: UInt64 {
    get { UInt64(memoryObjectInUse.load()) }
    set { memoryObjectInUse.store(UInt(newValue)) }
  }

  func takeNumber() -> Int64 {
    nextNumber.withLock { number in
      defer { number += 1 }
      return number
    }
  }

  func noteLive(_ body: StoredBody) { live.withLock { $0[body.number] = WeakBody(body: body) } }
  /// Removes the entry of a body that is being freed, unless another body with that number was loaded since.
  func noteDead(_ number: Int64) {
    live.withLock { live in
      if let entry = live[number], entry.body == nil { live[number] = nil }
    }
  }
  /// The number of bodies in memory.
  let bodyCount = AtomicWord(0)
  /// 1 once the directory belongs to another process (``CacheStore/handOver()``). From then on nothing is written, made, cut or
  /// removed in it; what is open is still read.
  let handedOver = AtomicWord(0)
  var isHandedOver: Bool { handedOver.load() != 0 }

  /// Waits until the writes into body files that began before the hand-over have ended. Blocking.
  func awaitWrites() {
    for body in live.withLock({ $0.values.compactMap(\.body) }) {
      while body.state.withLock({ $0.writing > 0 }) { usleep(200) }
    }
  }
  func isLive(_ number: Int64) -> Bool { live.withLock { $0[number] != nil } }
  func liveBody(_ number: Int64) -> StoredBody? { live.withLock { $0[number]?.body } }

  var directory: String { place.path }
  var bodiesDirectory: String { directory + "/bodies" }
  func folder(of id: ObjectID) -> String { "\(bodiesDirectory)/\(id.hex.prefix(2))" }
  func path(of id: ObjectID) -> String { "\(folder(of: id))/\(id.hex)" }

  func submit(
    _ changes: [CatalogueChange], durably: Bool = false, isUrgent: Bool = false,
    then completion: (@Sendable (Bool) -> Void)? = nil
  ) {
    guard let catalogue else {
      completion?(false)
      return
    }
    catalogue.submit(CatalogueChanges(list: changes), durably: durably, isUrgent: isUrgent, then: completion)
  }

  /// Runs `move`, which moves the bytes of a body to another place. Only one thread at a time moves a body. Not reentrant. Must
  /// not be called with the body's lock held.
  func moving<R>(_ body: StoredBody, _ move: () -> R) -> R {
    moving[Int(truncatingIfNeeded: body.number & 15)].withLock { _ in move() }
  }

  /// Updates the index and other bodies of the same record after a new record was written at `next`. The old record is not marked
  /// as dead yet. ``StoreCore`` overrides it.
  func noteMoved(_ body: StoredBody, from place: PackPlace, to next: PackPlace, _ descriptor: BodyDescriptor) {}

  /// Passes changes on to another body of the same object, because `body` does not refer to the object's present record any more.
  /// ``StoreCore`` overrides it.
  func passOn(
    _ changes: [CatalogueChange], from body: StoredBody, then completion: @escaping @Sendable (Bool) -> Void
  ) { completion(false) }

  /// Takes a body out of the catalogue, the disk and the index.
  func drop(_ body: StoredBody) {
    if body.doom() { body.removeBytes() }
  }

  /// Reserves disk space. Blocking; called in the pool.
  /// - Returns: `false` if there is no space and none can be freed.
  func makeRoom(_ bytes: UInt64) -> Bool { budget.reserve(bytes) }

  /// Logs that a body is not stored, at most once a minute for each reason. The event has the number of events that were left
  /// out.
  /// - Parameter bytes: the disk space that the body needed, with the overhead.
  func noteRefused(_ level: LogLevel, bytes: UInt64, _ why: String) {
    failures.log(level, "body-refused", of: why, ["bytes": "\(bytes)", "why": why])
  }

  /// Counts and logs an object that was dropped because none of its bytes can be trusted.
  func noteDropped(_ id: ObjectID, _ why: String) {
    counters.withLock { $0.drops += 1 }
    failures.log(
      .warning, "body-dropped", of: "dropped \(why)", atMost: FailureLog.few, ["body": id.hex, "why": why])
  }

  /// Calls `body` with a buffer of one MiB, into which a segment can be read. Called in the pool.
  func withSegmentBuffer<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
    var buffer = buffers.withLock { $0.popLast() } ?? [UInt8](repeating: 0, count: Int(SegmentTable.span))
    defer { buffers.withLock { if $0.count < 8 { $0.append(buffer) } } }
    return buffer.withUnsafeMutableBytes { body($0) }
  }
}

/// Counters of a cache since it was opened, and its present contents.
package struct StoreStatistics: Hashable, Sendable {
  /// Keys in the index.
  package var resources = 0
  /// Body files that are open.
  package var openBodies = 0
  /// Bytes of small bodies in memory.
  package var memoryBytes: UInt64 = 0
  package var usedBytes: UInt64 = 0
  package var reservedBytes: UInt64 = 0
  /// Objects evicted to make room.
  package var evictions: UInt64 = 0
  /// How often bytes were removed from a body because they differed from what pawl had written, or were missing.
  package var mendings: UInt64 = 0
  /// Objects that were dropped because none of their bytes could be trusted.
  package var drops: UInt64 = 0
}

/// The directory of a cache and its limits.
package struct CacheStoreSettings: Sendable {
  /// The name in `[cache:NAME]`.
  package var name: String
  /// The cache's own directory; it is made if it is missing.
  package var path: String
  /// Bytes for all bodies; `nil`: 80 % of the space that is free when the cache is first opened.
  package var maxSize: UInt64?
  /// Bytes that are left free on the file system.
  package var minFree: UInt64
  /// The memory for small bodies, and the size of the largest body that is kept there, both in bytes.
  package var memory: UInt64
  package var memoryObject: UInt64
  /// The most body files that are kept open without being used.
  package var openBodies: Int
  /// The most unused responses that are kept in memory with their heads. Each takes about 3 KiB.
  package var loadedResources: Int
  /// The largest body that is stored in a pack with others, in bytes; 0: each body has a file of its own.
  package var packedObject: UInt64
  /// Bytes of memory for bodies that are gathered to go into packs. A body counts with its length; if the length is unknown, with
  /// 64 KiB at first. When the memory is used up, new bodies get a file at once.
  package var gathering: UInt64
  /// The most packs; each of them holds a descriptor. Packs are made larger so that this number is enough. If packs of the
  /// largest possible size (256 MiB) are still too small, pawl makes more packs than this number.
  package var mostPacks: Int

  /// The value of ``mostPacks`` unless descriptors are scarce.
  package static let usualMostPacks = 4096

  package init(
    name: String, path: String, maxSize: UInt64? = nil, minFree: UInt64 = 1 << 30, memory: UInt64 = 64 << 20,
    memoryObject: UInt64 = 32 << 10, openBodies: Int = 8192, loadedResources: Int = 8192,
    packedObject: UInt64 = 256 << 10, gathering: UInt64 = 32 << 20, mostPacks: Int = CacheStoreSettings.usualMostPacks
  ) {
    (self.packedObject, self.gathering, self.mostPacks) = (packedObject, gathering, mostPacks)
    (self.name, self.path, self.maxSize, self.minFree) = (name, path, maxSize, minFree)
    (self.memory, self.memoryObject) = (memory, memoryObject)
    (self.openBodies, self.loadedResources) = (openBodies, loadedResources)
  }
}
