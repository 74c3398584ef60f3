import CLinux
import PawlBase
import PawlCache
import PawlLoop

/// Finds a resource by its key: 64 shards of open addressing over a 64-bit XXH3. What is on disk but was not used since
/// the start is a mark of 16 octets; the first look-up makes a resource of it, to be loaded.
final class ResourceIndex: Sendable {
  private let seed: UInt64
  private let shards: [Locked<IndexShard>]
  private static let shardCount = 64

  /// - Parameter hashes: ascending, one for each object on disk.
  init(seed: UInt64, hashes: [UInt64]) {
    self.seed = seed
    let capacity = hashes.count / Self.shardCount
    shards = (0..<Self.shardCount).map { _ in Locked(IndexShard(capacity: capacity)) }
    var first = 0
    while first < hashes.count {
      var end = first + 1
      while end < hashes.count, hashes[end] == hashes[first] { end += 1 }
      shard(hashes[first]).withLock { $0.insertMark(hashes[first], objects: end - first) }
      first = end
    }
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
    return shard(hash).withLock { shard in
      shard.find(hash) { $0.key.bytes.withUnsafeBytes { isKey($0, authority, target) } }
        ?? shard.awaken(hash) { CacheKey(authority: Array(authority)[...], target: Array(target)[...]) }
    }
  }

  func find(_ key: CacheKey, create: Bool) -> Resource? {
    let hash = hash(of: key)
    return shard(hash).withLock { shard in
      if let known = shard.find(hash, { $0.key == key }) ?? shard.awaken(hash, { key }) { return known }
      guard create else { return nil }
      let resource = Resource(key: key, hash: hash, isLoaded: true)
      shard.insert(resource)
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

  /// Makes marks again of resources that nobody has and nobody used for a while, the longest unused first, until at most
  /// `limit` responses are left. `now` in wall seconds. In the pool.
  /// - Parameter responses: how many are in memory.
  func unload(beyond limit: Int, responses: Int, now: Int64) {
    let resources = shards.reduce(0) { sum, shard in sum + shard.withLock { $0.resourceCount } }
    var excess = max(responses, resources) - limit
    for idle in [3600, 600, 60, 10] as [Int64] {
      for shard in shards where excess > 0 {
        let unloaded = shard.withLock { $0.unload(atMost: excess, notUsedSince: now - idle) }
        excess -= unloaded.objects
      }
    }
  }

  /// What stands under a hash when an object of it is to go.
  enum Presence {
    /// Nothing of it is in memory, and now its mark is gone, too.
    case unmarked
    /// The object may be among those of these resources.
    case inMemory([Resource])
  }

  func presence(of hash: UInt64) -> Presence {
    shard(hash).withLock { shard in
      let resources = shard.all(hash)
      guard resources.isEmpty else { return .inMemory(resources) }
      shard.lowerMark(hash)
      return .unmarked
    }
  }

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

/// Linear probing; a deletion moves what follows back, so there are no gravestones.
struct IndexShard {
  /// `entry` is 0 when free; odd: a mark, twice the count of objects on disk plus one; even: a retained `Resource`.
  private struct Slot {
    var hash: UInt64 = 0
    var entry: UInt = 0
  }
  private var slots: [Slot]
  private var mask: Int
  private(set) var count = 0
  /// Of these: resources, not marks.
  private(set) var resourceCount = 0

  init(capacity: Int) {
    var size = 16
    while size * 2 < capacity * 3 { size *= 2 }
    slots = [Slot](repeating: Slot(), count: size)
    mask = size - 1
  }

  func find(_ hash: UInt64, _ isIt: (Resource) -> Bool) -> Resource? {
    var index = home(hash)
    while slots[index].entry != 0 {
      if slots[index].hash == hash, let resource = Self.resource(slots[index].entry), isIt(resource) { return resource }
      index = (index + 1) & mask
    }
    return nil
  }

  func all(_ hash: UInt64) -> [Resource] {
    var found: [Resource] = []
    _ = find(hash) { resource in
      found.append(resource)
      return false
    }
    return found
  }

  func all(_ isOne: (_ key: [UInt8]) -> Bool) -> [Resource] {
    slots.compactMap { slot in
      guard let resource = Self.resource(slot.entry), isOne(resource.key.bytes) else { return nil }
      return resource
    }
  }

  /// Makes a resource, not loaded yet, of a mark.
  mutating func awaken(_ hash: UInt64, _ key: () -> CacheKey) -> Resource? {
    guard let index = mark(hash) else { return nil }
    let resource = Resource(key: key(), hash: hash, isLoaded: false)
    slots[index].entry = Self.retained(resource)
    resourceCount += 1
    return resource
  }

  mutating func insertMark(_ hash: UInt64, objects: Int) { add(Slot(hash: hash, entry: UInt(objects) << 1 | 1)) }

  mutating func insert(_ resource: Resource) {
    add(Slot(hash: resource.hash, entry: Self.retained(resource)))
    resourceCount += 1
  }

  /// Takes spare resources with at least so many responses out and leaves marks; those taken are let go of by the caller, after
  /// the lock.
  mutating func unload(atMost limit: Int, notUsedSince time: Int64) -> (resources: [Resource], objects: Int) {
    var unloaded: (resources: [Resource], objects: Int) = ([], 0)
    for index in slots.indices where unloaded.objects < limit {
      guard let resource = Self.resource(slots[index].entry) else { continue }
      let objects = resource.withLock { state -> Int in
        guard state.isSpare(notUsedSince: time) else { return 0 }
        let objects = state.variants.count + state.superseded.count
        // Whoever still has it publishes into the one that is loaded next.
        if objects > 0 { state.isDetached = true }
        return objects
      }
      guard objects > 0 else { continue }
      Unmanaged.passUnretained(resource).release()
      slots[index].entry = UInt(objects) << 1 | 1
      resourceCount -= 1
      unloaded.resources.append(resource)
      unloaded.objects += objects
    }
    return unloaded
  }

  /// One object fewer is on disk.
  mutating func lowerMark(_ hash: UInt64) {
    guard let index = mark(hash) else { return }
    if slots[index].entry > 3 { slots[index].entry -= 2 } else { remove(at: index) }
  }

  mutating func remove(_ resource: Resource) {
    let entry = UInt(bitPattern: Unmanaged.passUnretained(resource).toOpaque())
    var index = home(resource.hash)
    while slots[index].entry != 0 {
      if slots[index].entry == entry {
        Unmanaged.passUnretained(resource).release()
        resourceCount -= 1
        return remove(at: index)
      }
      index = (index + 1) & mask
    }
  }

  /// Empties the shard; what it held is let go of by the caller, after the lock.
  mutating func releaseAll() -> [Resource] {
    var resources: [Resource] = []
    for slot in slots where slot.entry & 1 == 0 {
      guard let resource = Self.resource(slot.entry) else { continue }
      resources.append(resource)
      Unmanaged.passUnretained(resource).release()
    }
    self = IndexShard(capacity: 0)
    return resources
  }

  private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & mask }

  private func mark(_ hash: UInt64) -> Int? {
    var index = home(hash)
    while slots[index].entry != 0 {
      if slots[index].hash == hash && slots[index].entry & 1 == 1 { return index }
      index = (index + 1) & mask
    }
    return nil
  }

  private mutating func add(_ slot: Slot) {
    if (count + 1) * 4 > slots.count * 3 { grow() }
    var index = home(slot.hash)
    while slots[index].entry != 0 { index = (index + 1) & mask }
    slots[index] = slot
    count += 1
  }

  private mutating func grow() {
    let old = slots
    slots = [Slot](repeating: Slot(), count: old.count * 2)
    mask = slots.count - 1
    for slot in old where slot.entry != 0 {
      var index = home(slot.hash)
      while slots[index].entry != 0 { index = (index + 1) & mask }
      slots[index] = slot
    }
  }

  private mutating func remove(at removed: Int) {
    var hole = removed
    var index = (removed + 1) & mask
    while slots[index].entry != 0 {
      // May move back only if its home is not between the hole and where it stands.
      let distance = (index - home(slots[index].hash)) & mask
      if distance >= (index - hole) & mask {
        slots[hole] = slots[index]
        hole = index
      }
      index = (index + 1) & mask
    }
    slots[hole] = Slot()
    count -= 1
  }

  // Safe: an even entry was made by `retained` and is released when it is taken out.
  private static func resource(_ entry: UInt) -> Resource? {
    guard entry & 1 == 0, let pointer = UnsafeMutableRawPointer(bitPattern: entry) else { return nil }
    return Unmanaged<Resource>.fromOpaque(pointer).takeUnretainedValue()
  }

  private static func retained(_ resource: Resource) -> UInt {
    UInt(bitPattern: Unmanaged.passRetained(resource).toOpaque())
  }
}
