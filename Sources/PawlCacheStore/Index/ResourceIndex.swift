import CLinux
import PawlBase
import PawlCache
import PawlLoop

/// Finds a resource by its key: 64 shards of open addressing over a 64-bit XXH3. What is at rest is 16 bytes, which say where it is;
/// the first look-up makes a resource of it, to be loaded. Of too many resources those go back that nobody has and nobody asked for
/// since a hand passed them.
final class ResourceIndex: Sendable {
  private let seed: UInt64
  private let shards: [Locked<IndexShard>]
  private static let shardCount = 64

  /// - Parameters:
  ///   - hashes: ascending, one for each object in the catalogue.
  ///   - packed: what is in packs.
  ///   - limit: resources in memory, as far as they can go.
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

  /// The hot path: neither allocates nor copies for a resource that was used before.
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

  /// Takes the resource out if it is empty.
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

  /// Those in memory whose keys lie at or below one of these paths (``OutdatedTrees``).
  func resources(below trees: [[UInt8]]) -> [Resource] {
    shards.flatMap { shard in
      shard.withLock { shard in shard.all { OutdatedTrees.isCovered($0, by: trees) } }
    }
  }

  /// How long nobody used a resource that goes for want of room, in seconds.
  private static let idle: Int64 = 10

  /// Lets go of resources that nobody has and nobody used for a while, until at most `limit` responses are left: of those which the
  /// hand has passed by, and which have many responses each. `now` in wall seconds. One walk over what is in memory. In the pool.
  /// - Parameter responses: how many are in memory.
  func unload(beyond limit: Int, responses: Int, now: Int64) {
    let resources = shards.reduce(0) { sum, shard in sum + shard.withLock { $0.resourceCount } }
    var excess = max(responses, resources) - limit
    guard excess > 0 else { return }
    for shard in shards where excess > 0 {
      let unloaded = shard.withLock { $0.unload(atMost: excess, notUsedSince: now - Self.idle) }
      excess -= unloaded.objects
    }
  }

  /// What stands under a hash when an object of the catalogue is to go.
  enum Presence {
    /// Nothing of it is in memory, and now it counts as one fewer at rest.
    case unmarked
    /// The object may be among those of these resources.
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

  /// Those in memory under that hash.
  func resources(_ hash: UInt64) -> [Resource] { shard(hash).withLock { $0.all(hash) } }

  // MARK: Records in packs

  /// What is at rest under that hash is not at the one place any more, but at another, or nowhere.
  /// - Returns: `nil`: it was there; else the resources that may have it.
  func move(_ hash: UInt64, from place: PackPlace, to next: PackPlace?) -> [Resource]? {
    shard(hash).withLock { shard in shard.move(hash, from: place, to: next) ? nil : shard.all(hash) }
  }

  /// The resource, or the one record under the hash of its key, where it is at rest. The hot path: as ``find(_:_:)``.
  func look(_ authority: UnsafeRawBufferPointer, _ target: UnsafeRawBufferPointer) -> IndexShard.Looked? {
    let hash = hash(authority, target)
    return shard(hash).withLock { shard in
      shard.look(hash) { $0.key.bytes.withUnsafeBytes { isKey($0, authority, target) } }
    }
  }

  /// Whether a record that is at rest was asked for since it was written or passed over last. Of what is in memory, `nil`.
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
