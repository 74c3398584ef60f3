import PawlBase
import PawlDisk
import PawlLoop
import PawlObserve

/// What the bodies of one cache share. What stands above it knows how they are found, and which can go (``StoreCore``).
class BodyCore: @unchecked Sendable {
  // Safe: all is constant; what changes has its own lock.
  let place: StorePlace
  let settings: CacheStoreSettings
  let pool: WorkerPool
  let events: EventLog
  let clock: any LoopClock
  let budget: DiskBudget
  let openBodies: OpenBodies
  let memory: MemoryBodies
  let durability: Durability
  let gathering: GatheringRoom
  /// For what may come once for each body.
  let failures: FailureLog
  let counters = Locked(StoreStatistics())
  /// Bodies whose files are there but whose rows may not be committed yet.
  let unrecorded = Locked(Set<ObjectID>())
  let spares = BodyFileSpares()
  /// Objects that are gone although their rows may still be there.
  let doomed = Locked(DoomedObjects())
  private let packsBox = Locked<Packs?>(nil)
  /// Bodies of which a new record is to be written.
  let rewriting = Locked([ObjectIdentifier: StoredBody]())
  private let moving = (0..<16).map { _ in Locked(()) }
  private let buffers = Locked([[UInt8]]())
  private let nextNumber: Locked<Int64>
  private let catalogueBox = Locked<Catalogue?>(nil)
  let reader: CatalogueReader
  /// `nil` where it could not be made.
  let ledger: Ledger?
  /// The bodies in memory, by number.
  private let live = Locked([Int64: WeakBody]())
  private struct WeakBody { weak var body: StoredBody? }
  /// Of bodies that no budget is charged for.
  let noCharge: DiskCharge
  /// Bodies used since their recency was last recorded.
  let used = Locked([ObjectIdentifier: StoredBody]())

  init(
    settings: CacheStoreSettings, place: StorePlace, pool: WorkerPool, events: EventLog, clock: any LoopClock,
    budget: DiskBudget,
    reader: CatalogueReader, nextNumber: Int64, ledger: Ledger? = nil
  ) {
    self.ledger = ledger
    (self.place, self.settings, self.pool) = (place, settings, pool)
    (self.events, self.clock, self.budget, self.reader) = (events, clock, budget, reader)
    noCharge = DiskCharge(budget, bytes: 0)
    openBodies = OpenBodies(limit: settings.openBodies)
    memory = MemoryBodies(limit: settings.memory)
    durability = Durability()
    gathering = GatheringRoom(limit: settings.gathering)
    failures = FailureLog(events: events, clock: clock)
    self.nextNumber = Locked(nextNumber)
  }

  /// Set once, before the store is used.
  var catalogue: Catalogue? {
    get { catalogueBox.withLock { $0 } }
    set { catalogueBox.withLock { $0 = newValue } }
  }

  /// Small objects; `nil` where each has a file of its own. Set once, before the store is used.
  var packs: Packs? {
    get { packsBox.withLock { $0 } }
    set { packsBox.withLock { $0 = newValue } }
  }

  func takeNumber() -> Int64 {
    nextNumber.withLock { number in
      defer { number += 1 }
      return number
    }
  }

  func noteLive(_ body: StoredBody) { live.withLock { $0[body.number] = WeakBody(body: body) } }
  /// A body of that number has ended; another may have been loaded since.
  func noteDead(_ number: Int64) {
    live.withLock { live in
      if let entry = live[number], entry.body == nil { live[number] = nil }
    }
  }
  /// Bodies in memory.
  let bodyCount = AtomicWord(0)
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

  /// One thread at a time brings the bytes of a body to another place. Not reentrant; never with the body's lock held.
  func moving<R>(_ body: StoredBody, _ move: () -> R) -> R {
    moving[Int(truncatingIfNeeded: body.number & 15)].withLock { _ in move() }
  }

  /// The record of a body stands elsewhere; the old one still counts. Whoever else knows of it is told.
  func noteMoved(_ body: StoredBody, from place: PackPlace, to next: PackPlace, _ descriptor: BodyDescriptor) {}

  /// What is to change of a record that is not that of this body any more.
  func passOn(
    _ changes: [CatalogueChange], from body: StoredBody, then completion: @escaping @Sendable (Bool) -> Void
  ) { completion(false) }

  /// Takes a body out of catalogue and disk, and of all that finds it.
  func drop(_ body: StoredBody) {
    if body.doom() { body.removeBytes() }
  }

  /// Reserves so many bytes. Blocking: in the pool.
  /// - Returns: `false` when there is no room and none can be made.
  func makeRoom(_ bytes: UInt64) -> Bool { budget.reserve(bytes) }

  /// A body is not kept. Once a minute for each reason, with how many there were besides.
  /// - Parameter bytes: what it was to have room for, with what it costs besides.
  func noteRefused(_ level: LogLevel, bytes: UInt64, _ why: String) {
    guard let unsaid = failures.due(why) else { return }
    events.log(level, "body-refused", ["bytes": "\(bytes)", "why": why, "unsaid": "\(unsaid)"])
  }

  /// Nothing of it can be trusted.
  func noteDropped(_ id: ObjectID, _ why: String) {
    counters.withLock { $0.drops += 1 }
    guard let unsaid = failures.due("dropped \(why)", atMost: FailureLog.few) else { return }
    events.log(.warning, "body-dropped", ["body": id.hex, "why": why, "unsaid": "\(unsaid)"])
  }

  /// Lends a buffer of one MiB for reading a segment back. In the pool.
  func withSegmentBuffer<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
    var buffer = buffers.withLock { $0.popLast() } ?? [UInt8](repeating: 0, count: Int(SegmentTable.span))
    defer { buffers.withLock { if $0.count < 8 { $0.append(buffer) } } }
    return buffer.withUnsafeMutableBytes { body($0) }
  }
}

/// What a cache has done since it was opened, and what it holds now.
package struct StoreStatistics: Hashable, Sendable {
  /// Keys in the index.
  package var resources = 0
  /// Body files held open.
  package var openBodies = 0
  /// Bytes of small bodies in memory.
  package var memoryBytes: UInt64 = 0
  package var usedBytes: UInt64 = 0
  package var reservedBytes: UInt64 = 0
  /// Objects evicted to make room.
  package var evictions: UInt64 = 0
  /// How often bytes were cut out because they were not what was written.
  package var mendings: UInt64 = 0
  /// Objects dropped because nothing of them could be trusted.
  package var drops: UInt64 = 0
}

/// Where a cache lives and how much it may use.
package struct CacheStoreSettings: Sendable {
  /// `[cache:NAME]`.
  package var name: String
  /// The cache's own directory; made when missing.
  package var path: String
  /// Bytes for all bodies; `nil`: 80 % of what is free when the cache is first opened.
  package var maxSize: UInt64?
  /// Bytes left free on the file system.
  package var minFree: UInt64
  /// Bytes of memory for small bodies, and the largest such body.
  package var memory: UInt64
  package var memoryObject: UInt64
  /// Body files kept open while nobody uses them.
  package var openBodies: Int
  /// Responses kept in memory with their heads while nobody uses them, some 3 KiB each.
  package var loadedResources: Int
  /// The largest body that is kept in a pack with others, in bytes; 0: each has a file of its own.
  package var packedObject: UInt64
  /// Bytes of memory for bodies that are gathered to go into packs, as far as they can become; of more, each gets a file at once.
  package var gathering: UInt64
  /// Packs, each of which holds a descriptor, where they can be made large enough.
  package var mostPacks: Int

  /// Unless descriptors are scarce.
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
