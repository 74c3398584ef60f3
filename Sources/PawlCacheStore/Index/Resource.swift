package import PawlBase
package import PawlCache
import PawlDisk
package import PawlLoop

/// Everything that is known under one key: the stored responses, and the running fetch of the server. Shared by all loops.
package final class Resource: Sendable {
  package let key: CacheKey
  let hash: UInt64
  @usableFromInline let state: Locked<ResourceState>
  /// Its place among the resources in memory; -1: none.
  // Safe: used by the index only, behind the lock of its shard.
  nonisolated(unsafe) var seat = -1
  /// Whether it was requested since the clock hand passed it.
  // Safe: as above.
  nonisolated(unsafe) var isTouched = true

  init(key: CacheKey, hash: UInt64, isLoaded: Bool, atRest: AtRest = AtRest()) {
    (self.key, self.hash) = (key, hash)
    state = Locked(ResourceState(isLoaded: isLoaded, atRest: atRest))
  }

  /// Runs `body` with the lock held. Keep it short, without I/O; not reentrant.
  @inlinable
  package func withLock<R>(_ body: (inout ResourceState) -> R) -> R { state.withLock { body(&$0) } }
}

/// What a resource's lock protects.
package struct ResourceState {
  /// The current responses.
  package internal(set) var variants = Variants()
  /// Superseded responses, newest first, kept for clients that have a part of one: at most ``supersededLimit``.
  package var superseded: [StoredResponse] = []
  /// The collapsed fetch of the server that is running.
  package var fetch: AnyObject?
  /// Until this time requests are not collapsed, because the last response could not be stored (hit-for-miss).
  package var uncacheableUntil: Monotonic?
  /// The confirmations that the origin gave single clients a moment ago.
  package var confirmations = Confirmations()
  /// Whether the last response could be shared: then other requests wait for the next one as long as it takes.
  package var wasShareable = false
  /// Counts the unsafe requests that succeeded. A response to a request from before the last of them is not stored (RFC 9111
  /// §4.4).
  package var invalidations: UInt64 = 0
  /// The number of running requests to the origin for this resource; meanwhile it stays in the index.
  package var asking = 0
  /// Whether what is on disk was loaded: ``CacheStore/load(_:on:_:)``.
  package internal(set) var isLoaded: Bool
  /// Whether it is out of the index: then responses are published in another resource of the same key.
  package internal(set) var isDetached = false
  var loads: [LoopReply<Void>] = []
  /// What is to be loaded: the number of objects in the catalogue, and the places of records in packs.
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

  /// Whether the resource is not in use and all of it is recorded: then it can be unloaded and made again.
  func isSpare(notUsedSince time: Int64) -> Bool {
    guard isLoaded, fetch == nil, asking == 0, uncacheableUntil == nil, !isDetached else { return false }
    return variants.allSatisfy { $0.body.isSpare(notUsedSince: time) }
      && superseded.allSatisfy { $0.body.isSpare(notUsedSince: time) }
  }

  /// Ends sharing with earlier requests: later requests do not wait for their responses, which are not stored (RFC 9111 §4.4).
  mutating func invalidate() {
    fetch = nil
    confirmations.removeAll()
    invalidations += 1
  }

  /// The places of all its objects, for the time when they are not in memory.
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
