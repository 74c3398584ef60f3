package import PawlBase
package import PawlCache
import PawlDisk
package import PawlLoop

/// Everything that is known under one cache key: the stored responses, and the running fetch of the server. Shared by all loops.
package final class Resource: Sendable {
  package let key: CacheKey
  let hash: UInt64
  @usableFromInline let state: Locked<ResourceState>
  /// The index of this resource in the list of resources in memory (`IndexShard.seats`); -1: it is not there.
  // Safe: used by the index only, under the lock of the shard.
  nonisolated(unsafe) var seat = -1
  /// Whether the resource was requested since the clock hand passed it.
  // Safe: for the same reason as `seat`.
  nonisolated(unsafe) var isTouched = true

  init(key: CacheKey, hash: UInt64, isLoaded: Bool, atRest: AtRest = AtRest()) {
    (self.key, self.hash) = (key, hash)
    state = Locked(ResourceState(isLoaded: isLoaded, atRest: atRest))
  }

  /// Runs `body` with the lock held. `body` has to be short and without I/O. Not reentrant.
  @inlinable
  package func withLock<R>(_ body: (inout ResourceState) -> R) -> R { state.withLock { body(&$0) } }
}

/// The part of a resource that its lock protects.
package struct ResourceState {
  /// The current responses.
  package internal(set) var variants = Variants()
  /// Superseded responses, newest first, kept for clients that have a part of one: at most ``supersededLimit``.
  package var superseded: [StoredResponse] = []
  /// The collapsed fetch that is running; an object of the server.
  package var fetch: AnyObject?
  /// Until this time requests are not collapsed, because the last response could not be stored (hit-for-miss).
  package var uncacheableUntil: Monotonic?
  /// The confirmations that the origin gave to single clients a moment ago.
  package var confirmations = Confirmations()
  /// Whether the last response could be shared. Then other requests wait for the next response without a time limit.
  package var wasShareable = false
  /// Counts the unsafe requests that succeeded. A response to a request that was sent before the last of them is not stored (RFC
  /// 9111 §4.4).
  package var invalidations: UInt64 = 0
  /// The number of running requests to the origin for this resource. While there are any, it stays in the index.
  package var asking = 0
  /// Whether the objects on disk were loaded (``CacheStore/load(_:on:_:)``).
  package internal(set) var isLoaded: Bool
  /// Whether the resource was taken out of the index. Then responses are published in another resource of the same key.
  package internal(set) var isDetached = false
  var loads: [LoopReply<Void>] = []
  /// The objects that are not loaded yet: their number in the catalogue, and the places of records in packs.
  var atRest: AtRest

  package static let supersededLimit = 16

  init(isLoaded: Bool, atRest: AtRest = AtRest()) { (self.isLoaded, self.atRest) = (isLoaded, atRest) }

  var isEmpty: Bool {
    variants.isEmpty && superseded.isEmpty && fetch == nil && asking == 0 && loads.isEmpty && isLoaded
  }

  /// All responses, the current ones first.
  package var responses: [StoredResponse] { Array(variants) + superseded }

  /// Removes all responses with this body.
  mutating func removeAll(of body: StoredBody) {
    variants.remove(body)
    superseded.removeAll { $0.body.number == body.number }
  }

  /// Whether the resource can be unloaded: it is not in use, was not used since `time` (wall clock, seconds), and all of it is
  /// recorded.
  func isSpare(notUsedSince time: Int64) -> Bool {
    guard isLoaded, fetch == nil, asking == 0, uncacheableUntil == nil, !isDetached else { return false }
    return variants.allSatisfy { $0.body.isSpare(notUsedSince: time) }
      && superseded.allSatisfy { $0.body.isSpare(notUsedSince: time) }
  }

  /// Ends sharing with earlier requests: later requests do not wait for the responses to earlier ones. These responses are not
  /// stored (RFC 9111 §4.4).
  mutating func invalidate() {
    fetch = nil
    confirmations.removeAll()
    invalidations += 1
  }

  /// All objects of the resource as they are recorded when it is unloaded.
  var asAtRest: AtRest {
    var rest = AtRest()
    for response in variants { response.body.note(in: &rest) }
    for response in superseded { response.body.note(in: &rest) }
    return rest
  }

  func response(number: Int64) -> StoredResponse? {
    variants.response(number: number) ?? superseded.first { $0.body.number == number }
  }
}
