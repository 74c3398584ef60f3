import PawlDisk

/// The limits of a cache that may change while it is open.
package struct CacheLimits: Hashable, Sendable {
  /// Bytes for all bodies.
  package var maxSize: UInt64
  package var minFree: UInt64
  package var memory: UInt64
  package var memoryObject: UInt64
  package var packedObject: UInt64
  /// How many packs there may be.
  var mostPacks: Int
  /// The size of a cache whose size is not configured; `nil`: it is not known yet.
  var usualSize: UInt64?

  init(_ settings: CacheStoreSettings, usualSize: UInt64?) {
    maxSize = settings.maxSize ?? usualSize ?? .max
    minFree = max(settings.minFree, CacheStore.leastFree)
    (memory, memoryObject) = (settings.memory, settings.memoryObject)
    (packedObject, mostPacks, self.usualSize) = (settings.packedObject, settings.mostPacks, usualSize)
  }
}

extension StoreCore {
  /// The least and the largest step, in bytes, in which a cache shrinks.
  private static let leastStep: UInt64 = 16 << 20
  private static let steps: UInt64 = 256

  /// Uses other limits from now on.
  func use(_ limits: CacheLimits) {
    memoryObject = limits.memoryObject
    memory.setLimit(limits.memory)
    packs?.setLimits(packedObject: limits.packedObject, maxSize: limits.maxSize, mostPacks: limits.mostPacks)
    wantedLimits.withLock { $0 = limits }
    // A larger size holds at once. A smaller one is approached in steps, because a fill that needs space waits until the size is
    // kept.
    budget.setLimits(maxSize: max(limits.maxSize, min(budget.maxSize, budget.used)), minFree: limits.minFree)
    pool.run { [self] in
      memory.trim()
      if packs?.isWriting == true { packs?.makeSpare() }
    }
    if budget.maxSize > limits.maxSize { pool.run { [self] in shrink(to: limits) } }
  }

  /// Makes the cache smaller by one step, and puts the next step at the end of the pool's queue. In the pool.
  private func shrink(to limits: CacheLimits) {
    // A later reload may want other limits.
    guard wantedLimits.withLock({ $0 }) == limits else { return }
    let size = budget.maxSize
    let step = max(Self.leastStep, size / Self.steps)
    let next = max(limits.maxSize, size - min(step, size))
    budget.setLimits(maxSize: next, minFree: limits.minFree)
    _ = makeRoom(0)
    if next > limits.maxSize { pool.run { [self] in shrink(to: limits) } }
  }
}
