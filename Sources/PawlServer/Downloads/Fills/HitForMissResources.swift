import DequeModule
import PawlCacheStore
import PawlLoop

/// The resources that are marked as uncacheable (hit-for-miss), because their last response was for one client alone. As long as the mark
/// holds, requests for the resource do not wait for each other, and the resource stays in its store's index even if nothing is stored under
/// it. Belongs to one loop.
struct HitForMissResources {
  /// The time for which a mark holds.
  static let time = Duration.seconds(10)
  /// The largest number of marks on one loop. Above this number, the oldest marks are removed before their time is over.
  static let limit = 4096

  private struct Entry {
    var until: Monotonic
    let resource: Resource
    let store: CacheStore
  }

  /// The marked resources, in the order in which they were marked.
  private var entries = Deque<Entry>()

  var count: Int { entries.count }

  /// Marks a resource whose response could not be shared.
  mutating func mark(_ resource: Resource, in store: CacheStore, at now: Monotonic) {
    let until = now.advanced(by: Self.time)
    let wasMarked = resource.withLock { state in
      defer { state.uncacheableUntil = until }
      // Every marked resource is in the list, even if the time of its mark is over.
      return state.uncacheableUntil != nil
    }
    if !wasMarked { entries.append(Entry(until: until, resource: resource, store: store)) }
    sweep(at: now)
  }

  /// Notes that an exchange is done with a resource. If nothing is stored under the resource, and it has no mark, it leaves the index.
  mutating func letGo(of resource: Resource, in store: CacheStore, at now: Monotonic) {
    if resource.withLock({ $0.uncacheableUntil == nil }) { store.remove(resource) }
    sweep(at: now)
  }

  /// Removes the marks whose time is over, and the oldest marks beyond ``limit``.
  private mutating func sweep(at now: Monotonic) {
    while !entries.isEmpty {
      let isOver = entries[0].until <= now
      guard isOver || count > Self.limit else { break }
      var oldest = entries.removeFirst()
      let renewed = oldest.resource.withLock { state -> Monotonic? in
        if isOver, count < Self.limit, let until = state.uncacheableUntil, until > now { return until }
        state.uncacheableUntil = nil
        return nil
      }
      if let renewed {
        oldest.until = renewed
        entries.append(oldest)
      } else {
        oldest.store.remove(oldest.resource)
      }
    }
  }
}
