package import PawlBase
package import PawlCache
import PawlDisk
package import PawlLoop

/// Everything that is known under one key: the stored responses, and the server's fetch. Shared by all loops.
package final class Resource: Sendable {
  package let key: CacheKey
  let hash: UInt64
  @usableFromInline let state: Locked<ResourceState>
  /// Where it stands among those in memory; -1: nowhere.
  // Safe: the index's, behind the lock of its shard.
  nonisolated(unsafe) var seat = -1
  /// Whether it was asked for since the hand passed it.
  // Safe: as well.
  nonisolated(unsafe) var isTouched = true

  init(key: CacheKey, hash: UInt64, isLoaded: Bool, atRest: AtRest = AtRest()) {
    (self.key, self.hash) = (key, hash)
    state = Locked(ResourceState(isLoaded: isLoaded, atRest: atRest))
  }

  /// Hold it for a look or an update, never over IO; not reentrant.
  @inlinable
  package func withLock<R>(_ body: (inout ResourceState) -> R) -> R { state.withLock { body(&$0) } }
}

/// What a resource's lock protects.
package struct ResourceState {
  /// Current ones.
  package internal(set) var variants = Variants()
  /// Replaced ones, newest first, kept for clients that hold half of one: at most ``supersededLimit``.
  package var superseded: [StoredResponse] = []
  /// The server's collapsed fetch.
  package var fetch: AnyObject?
  /// Until then nobody waits for another's fetch: the last answer could not be kept.
  package var uncacheableUntil: Monotonic?
  /// What the origin has said to single clients a moment ago: ``Confirmations``.
  package var confirmations = Confirmations()
  /// Whether the last answer could be shared: then others wait for the next one as long as it takes.
  package var wasShareable = false
  /// Counts the unsafe requests that succeeded: what was asked before the last of them is not kept (RFC 9111 §4.4).
  package var invalidations: UInt64 = 0
  /// Requests under way to the origin for this resource; it stays in the index so long.
  package var asking = 0
  /// Whether what was on disk at the start is here: ``CacheStore/load(_:on:_:)``.
  package internal(set) var isLoaded: Bool
  /// Out of the index: what is published here goes to another resource of the same key.
  package internal(set) var isDetached = false
  var loads: [LoopReply<Void>] = []
  /// What is to be loaded: objects in the catalogue, as many as were marked, and records in packs.
  var atRest: AtRest

  package static let supersededLimit = 16

  init(isLoaded: Bool, atRest: AtRest = AtRest()) { (self.isLoaded, self.atRest) = (isLoaded, atRest) }

  var isEmpty: Bool {
    variants.isEmpty && superseded.isEmpty && fetch == nil && asking == 0 && loads.isEmpty && isLoaded
  }

  /// All of them, the current ones first.
  package var responses: [StoredResponse] { Array(variants) + superseded }

  /// Takes all responses with this body out.
  mutating func removeAll(of body: StoredBody) {
    variants.remove(body)
    superseded.removeAll { $0.body.number == body.number }
  }

  /// Nobody is here and all is recorded: the resource can be made anew from the catalogue.
  func isSpare(notUsedSince time: Int64) -> Bool {
    guard isLoaded, fetch == nil, asking == 0, uncacheableUntil == nil, !isDetached else { return false }
    return variants.allSatisfy { $0.body.isSpare(notUsedSince: time) }
      && superseded.allSatisfy { $0.body.isSpare(notUsedSince: time) }
  }

  /// Who asks from now on does not wait for an answer to an earlier question, and that is not kept (RFC 9111 §4.4).
  mutating func invalidate() {
    fetch = nil
    confirmations.removeAll()
    invalidations += 1
  }

  /// Where all that is here is while it is not here.
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
