import PawlBase
import PawlDisk
import PawlLoop
import PawlObserve

/// What the parts of one cache share: its bodies, and the index over them.
final class StoreCore: BodyCore, @unchecked Sendable {
  // Safe: as for the bodies.
  let index: ResourceIndex
  let trees: OutdatedTrees
  /// Whether orphans were looked for in every directory since the start.
  let isSwept = Locked(false)

  init(
    settings: CacheStoreSettings, place: StorePlace, pool: WorkerPool, events: EventLog, clock: any LoopClock,
    budget: DiskBudget,
    reader: CatalogueReader, index: ResourceIndex, trees: OutdatedTrees, nextNumber: Int64, ledger: Ledger? = nil
  ) {
    (self.index, self.trees) = (index, trees)
    super.init(
      settings: settings, place: place, pool: pool, events: events, clock: clock, budget: budget, reader: reader,
      nextNumber: nextNumber, ledger: ledger)
  }

  override func drop(_ body: StoredBody) {
    removeFromIndex(body)
    body.leaveBase()
    super.drop(body)
    dropForms(of: body)
  }

  override func makeRoom(_ bytes: UInt64) -> Bool { reserveEvicting(bytes) }
}
