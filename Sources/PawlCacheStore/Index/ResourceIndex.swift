import CLinux
import PawlBase
import PawlCache
import PawlLoop

/// The index that finds a resource by its key: 64 shards with open addressing over a 64-bit XXH3.
///
/// An object at rest (``AtRest``) takes 16 bytes, which contain its place. The first look-up makes a resource, which is then
/// loaded. If there are too many resources, a clock hand (as in ``MemoryBodies``) unloads those that are not in use and were not
/// requested since the hand last passed them.
final class ResourceIndex: Sendable {
  private let seed: UInt64
  private let shards: [Locked<IndexShard>]
  private static let shardCount = 64

  /// - Parameters:
  ///   - hashes: ascending, one for each object in the catalogue.
  ///   - packed: the records in packs.
  ///   - limit: the most resources in memory. There are more only if they cannot be unloaded.
  init(seed: UInt64, hashes: [UInt64], packed: [PackEntry] = [], limit: Int = .max) {
    self.seed = seed
    let capacity = (hashes.count + packed.count) / Self.shardCount
    let limit = limit == .max ? limit : max(limit / Self.shardCount, 1)
    shards = (0..<Self.shardCount).map { _ in Locked(IndexShard(capacity: capacity, limit: limit)) }
    var first = 0
    while first < hashes.count {
      var end = first + 1
      while end < hashes.count, hashes[end] == hashes[first] { end += 1 }
      shard(hashes[first]).withLock { $0.rest(hashes[first], AtRest(rows: end - first)) }
      first = end
    }
    for entry in packed { shard(entry.hash).withLock { $0.rest(entry.hash, AtRest(places: [entry.place])) } }
  }

  deinit { clear() }

  /// Forgets everything.
  func clear() {
    for shard in shards { for resource in shard.withLock({ $0.releaseAll() }) { withExtendedLifetime(resource) {} } }
  }

  var count: Int { shards.reduce(0) { sum, shard in sum + shard.withLock { $0.count } } }

  func hash(_ authority: UnsafeRawBufferPointer, _ target: UnsafeRawBufferPointer) -> UInt64 {
    SegmentDigest.key(authority, target, seed: seed)
  }

  func hash(of key: CacheKey) -> UInt64 {
    key.authority.withUnsafeBytes { authority in key.target.withUnsafeBytes { hash(authority, $0) } }
  }

  /// Finds the resource with this key. On the hot path, so it neither allocates nor copies if the resource is in memory.
  func find(_ authority: UnsafeRawBufferPointer, _ target: UnsafeRawBufferPointer) -> Resource? {
    let hash = hash(authority, target)
    var gone: [Resource] = []
    return shard(hash).withLock { shard in
      shard.find(hash) { $0.key.bytes.withUnsafeBytes { isKey($0, authority, target) } }
        ?? shard.awaken(hash, &gone) { CacheKey(authority: Array(authority)[...], target: Array(target)[...]) }
    }
  }

  func find(_ key: CacheKey, create: Bool) -> Resource? {
    let hash = hash(of: key)
    var gone: [Resource] = []
    return shard(hash).withLock { shard in
      if let known = shard.find(hash, { $0.key == key }) ?? shard.awaken(hash, &gone, { key }) { return known }
      guard create else { return nil }
      let resource = Resource(key: key, hash: hash, isLoaded: true)
      shard.insert(resource, &gone)
      return resource
    }
  }

  /// Removes the resource if it is empty.
  func removeIfEmpty(_ resource: Resource) {
    shard(resource.hash).withLock { shard in
      let isEmpty = resource.withLock { state in
        guard state.isEmpty, !state.isDetached else { return false }
        state.isDetached = true
        return true
      }
      if isEmpty { shard.remove(resource) }
    }
  }

  /// Returns the resources in memory whose keys are at or below one of these paths (``OutdatedTrees``).
  func resources(below trees: [[UInt8]]) -> [Resource] {
    shards.flatMap { shard in
      shard.withLock { shard in shard.all { OutdatedTrees.isCovered($0, by: trees) } }
    }
  }

  /// The time in seconds for which a resource has to be unused before it is unloaded because there are too many.
  private static let idle: Int64 = 10

  /// Unloads resources that are idle and were not used for a while, until at most `limit` responses are left. This is needed for
  /// resources that the clock hand did not unload, and for those with many responses. Walks once over the resources in memory.
  /// Called in the pool.
  /// - Parameters:
  ///   - responses: the number of responses in memory.
  ///   - now: wall clock, seconds.
  func unload(beyond limit: Int, responses: Int, now: Int64) {
    let resources = shards.reduce(0) { sum, shard in sum + shard.withLock { $0.resourceCount } }
    var excess = max(responses, resources) - limit
    guard excess > 0 else { return }
    for shard in shards where excess > 0 {
      let unloaded = shard.withLock { $0.unload(atMost: excess, notUsedSince: now - Self.idle) }
      excess -= unloaded.objects
    }
  }

  /// The result of looking up the hash of an object that is to be removed from the catalogue.
  enum Presence {
    /// No resource under that hash is in memory. The index now counts one object fewer at rest.
    case unmarked
    /// The object may be in one of these resources.
    case inMemory([Resource])
  }

  func presence(of hash: UInt64) -> Presence {
    shard(hash).withLock { shard in
      let resources = shard.all(hash)
      guard resources.isEmpty else { return .inMemory(resources) }
      shard.lowerRows(hash)
      return .unmarked
    }
  }

  /// The resources in memory under that hash.
  func resources(_ hash: UInt64) -> [Resource] { shard(hash).withLock { $0.all(hash) } }

  // MARK: Records in packs

  /// Changes the place of a record at rest, or removes it.
  /// - Returns: `nil` if the record was at rest there; else the resources that may have loaded it.
  func move(_ hash: UInt64, from place: PackPlace, to next: PackPlace?) -> [Resource]? {
    shard(hash).withLock { shard in shard.move(hash, from: place, to: next) ? nil : shard.all(hash) }
  }

  /// Returns the resource, or the only record at rest under the hash of its key. On the hot path, like ``find(_:_:)``.
  func look(_ authority: UnsafeRawBufferPointer, _ target: UnsafeRawBufferPointer) -> IndexShard.Looked? {
    let hash = hash(authority, target)
    return shard(hash).withLock { shard in
      shard.look(hash) { $0.key.bytes.withUnsafeBytes { isKey($0, authority, target) } }
    }
  }

  /// Whether a record at rest was requested since it was written or last moved; `nil` if it is not at rest there.
  func wasUsed(_ hash: UInt64, _ place: PackPlace) -> Bool? { shard(hash).withLock { $0.wasUsed(hash, place) } }

  private func shard(_ hash: UInt64) -> Locked<IndexShard> { shards[Int(hash >> 58)] }

  private func isKey(
    _ bytes: UnsafeRawBufferPointer, _ authority: UnsafeRawBufferPointer, _ target: UnsafeRawBufferPointer
  ) -> Bool {
    guard bytes.count == authority.count + 1 + target.count, let start = bytes.baseAddress,
      start.load(fromByteOffset: authority.count, as: UInt8.self) == 0
    else { return false }
    if let first = authority.baseAddress, memcmp(start, first, authority.count) != 0 { return false }
    guard let second = target.baseAddress else { return true }
    return memcmp(start + authority.count + 1, second, target.count) == 0
  }
}
