import DequeModule
import PawlCacheStore
import PawlLoop

/// The resources whose last answer was for one client alone: for a while requests for one of them do not wait for each
/// other, and so long it stays in its store's index, though it may hold nothing. Of one loop.
struct UncollapsedResources {
  /// How long.
  static let time = Duration.seconds(10)
  /// So many are remembered on one loop; of more, those that were marked first are forgotten early.
  static let limit = 4096

  private struct Entry {
    var until: Monotonic
    let resource: Resource
    let store: CacheStore
  }

  /// In the order of their coming.
  private var entries = Deque<Entry>()

  var count: Int { entries.count }

  /// An answer was not to be shared.
  mutating func mark(_ resource: Resource, in store: CacheStore, at now: Monotonic) {
    let until = now.advanced(by: Self.time)
    let wasMarked = resource.withLock { state in
      defer { state.uncacheableUntil = until }
      // Whoever bears a mark stands here, even when its time is over.
      return state.uncacheableUntil != nil
    }
    if !wasMarked { entries.append(Entry(until: until, resource: resource, store: store)) }
    sweep(at: now)
  }

  /// An exchange is done with a resource: one that holds nothing, and bears no mark, leaves the index.
  mutating func letGo(of resource: Resource, in store: CacheStore, at now: Monotonic) {
    if resource.withLock({ $0.uncacheableUntil == nil }) { store.remove(resource) }
    sweep(at: now)
  }

  /// Takes the marks whose time is over, and of too many the oldest.
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
