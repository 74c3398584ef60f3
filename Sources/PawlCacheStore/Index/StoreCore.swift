import PawlBase
import PawlDisk
import PawlLoop
import PawlObserve

/// The objects that the parts of one cache share: those of its bodies, and the index over them.
final class StoreCore: BodyCore, @unchecked Sendable {
  // Safe: as in `BodyCore`.
  let index: ResourceIndex
  let trees: OutdatedTrees
  /// Whether the sweep for orphans has finished since pawl started.
  let isSwept = Locked(false)
  /// Held while a pack is emptied to free space, so that only one thread does that at a time.
  let emptying = Locked(())
  let keeping = Locked(KeptShare())
  /// The limits that ``use(_:)`` was called with last.
  let wantedLimits = Locked<CacheLimits?>(nil)
  /// Bytes of incomplete responses, as they were added up last.
  let partialBytes = AtomicWord(0)

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
    // The body is marked as doomed first. So a thread that has just loaded it, and adds it to a resource, sees that it is being
    // removed.
    let isFirst = body.doom()
    removeFromIndex(body)
    body.leaveBase()
    if isFirst { body.removeBytes() }
    dropForms(of: body)
  }

  override func makeRoom(_ bytes: UInt64) -> Bool { !isHandedOver && reserveEvicting(bytes) }

  // MARK: - Other bodies of a record

  override func noteMoved(
    _ body: StoredBody, from place: PackPlace, to next: PackPlace, _ descriptor: BodyDescriptor
  ) {
    guard let key = body.state.withLock({ $0.home }) else { return }
    let hash = index.hash(of: key)
    if replace(hash, place, by: next) { return }
    for other in others(than: body, hash) {
      other.state.withLock { state in
        if state.place == .packed(place) { (state.place, state.descriptor) = (.packed(next), descriptor) }
      }
    }
  }

  override func passOn(
    _ changes: [CatalogueChange], from body: StoredBody, then completion: @escaping @Sendable (Bool) -> Void
  ) {
    guard let key = body.state.withLock({ $0.home }), let other = others(than: body, index.hash(of: key)).first else {
      return completion(false)
    }
    record(changes, of: other, then: completion)
  }

  /// Returns the other bodies of the same object. There are some if the object was loaded again while a body that had left the
  /// index was still in use.
  private func others(than body: StoredBody, _ hash: UInt64) -> [StoredBody] {
    index.resources(hash).flatMap { $0.withLock { $0.responses.map(\.body) } }.flatMap { [$0] + $0.forms.map(\.body) }
      .filter { $0.number == body.number && $0 !== body }
  }
}
