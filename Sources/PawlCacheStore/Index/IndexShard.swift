import PawlBase
import PawlCache

/// One part of the ``ResourceIndex``: a hash table with linear probing. A deletion moves the following slots back, so there are
/// no tombstones.
struct IndexShard {
  /// A slot of the table. `entry` is 0 if the slot is free; else the lowest two bits of `entry` are the ``Kind``.
  private struct Slot {
    var hash: UInt64 = 0
    var entry: UInt = 0

    var kind: Kind { Kind(rawValue: entry & 3) ?? .resource }
  }
  /// The content of a slot. All objects at rest (``AtRest``) under one hash are in one slot.
  private enum Kind: UInt {
    /// A retained `Resource`.
    case resource = 0
    /// The number of objects in the catalogue.
    case rows = 1
    /// The place of one record in a pack. The highest bit says whether it was used.
    case packed = 2
    /// A retained `AtRestBox`.
    case several = 3
  }
  private static let usedBit: UInt = 1 << 63

  private var slots: [Slot]
  private var mask: Int
  private(set) var count = 0
  /// The resources in memory, in no order. `hand` is the index at which the clock hand looks next for one to unload (as in
  /// ``MemoryBodies``).
  private var seats: [Unmanaged<Resource>] = []
  private var hand = 0
  private let limit: Int

  /// - Parameter limit: the most resources in memory. If there are more, each new one moves the clock hand.
  init(capacity: Int, limit: Int = .max) {
    self.limit = limit
    var size = 16
    while size * 2 < capacity * 3 { size *= 2 }
    slots = [Slot](repeating: Slot(), count: size)
    mask = size - 1
  }

  /// The number of resources in memory; they are included in ``count``.
  var resourceCount: Int { seats.count }

  func find(_ hash: UInt64, _ isIt: (Resource) -> Bool) -> Resource? {
    var index = home(hash)
    while slots[index].entry != 0 {
      if slots[index].hash == hash, let resource = Self.resource(slots[index].entry), isIt(resource) {
        resource.isTouched = true
        return resource
      }
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
    seats.compactMap { seat in
      let resource = seat.takeUnretainedValue()
      return isOne(resource.key.bytes) ? resource : nil
    }
  }

  /// Makes a resource, not loaded yet, from the objects at rest under a hash; `nil` if there are none.
  /// - Parameter gone: gets the resources that were unloaded to make the new one; the caller drops them after releasing the lock.
  mutating func awaken(_ hash: UInt64, _ gone: inout [Resource], _ key: () -> CacheKey) -> Resource? {
    guard let index = restIndex(hash) else { return nil }
    let resource = Resource(key: key(), hash: hash, isLoaded: false, atRest: takeRest(at: index))
    slots[index].entry = Self.retained(resource)
    seat(resource, &gone)
    return resource
  }

  mutating func insert(_ resource: Resource, _ gone: inout [Resource]) {
    add(Slot(hash: resource.hash, entry: Self.retained(resource)))
    seat(resource, &gone)
  }

  // MARK: At rest

  /// Returns the resource, or the place of the only record at rest under this hash, and marks it as used; `nil` in all other
  /// cases.
  mutating func look(_ hash: UInt64, _ isIt: (Resource) -> Bool) -> Looked? {
    var index = home(hash)
    while slots[index].entry != 0 {
      if slots[index].hash == hash {
        if let resource = Self.resource(slots[index].entry) {
          if isIt(resource) {
            resource.isTouched = true
            return .resource(resource)
          }
        } else if slots[index].kind == .packed {
          slots[index].entry |= Self.usedBit
          return .record(Self.place(slots[index].entry))
        }
      }
      index = (index + 1) & mask
    }
    return nil
  }

  enum Looked { case resource(Resource), record(PackPlace) }

  /// Adds objects at rest under a hash.
  mutating func rest(_ hash: UInt64, _ more: AtRest) {
    guard !more.isEmpty else { return }
    guard let index = restIndex(hash) else {
      return add(Slot(hash: hash, entry: Self.entry(more)))
    }
    var all = takeRest(at: index)
    all.rows += more.rows
    all.places += more.places
    all.wasUsed = all.wasUsed || more.wasUsed
    slots[index].entry = Self.entry(all)
  }

  /// Notes that the catalogue has one object fewer under a hash.
  mutating func lowerRows(_ hash: UInt64) {
    guard let index = restIndex(hash) else { return }
    var all = takeRest(at: index)
    all.rows = max(0, all.rows - 1)
    put(all, at: index)
  }

  /// Changes the place of a record, or removes it.
  /// - Returns: `false` if no record under the hash is at rest at `place`.
  mutating func move(_ hash: UInt64, from place: PackPlace, to next: PackPlace?) -> Bool {
    guard let index = restIndex(hash) else { return false }
    var all = takeRest(at: index)
    let found = all.places.firstIndex(of: place)
    if let found {
      if let next { all.places[found] = next } else { all.places.remove(at: found) }
      // After a record was moved, it is moved again only if it was used again.
      all.wasUsed = false
    }
    put(all, at: index)
    return found != nil
  }

  func wasUsed(_ hash: UInt64, _ place: PackPlace) -> Bool? {
    guard let index = restIndex(hash) else { return nil }
    switch slots[index].kind {
    case .packed: return Self.place(slots[index].entry) == place ? slots[index].entry & Self.usedBit != 0 : nil
    case .several:
      guard let content = Self.box(slots[index].entry)?.takeUnretainedValue().content else { return nil }
      return content.places.contains(place) ? content.wasUsed : nil
    case .resource, .rows: return nil
    }
  }

  private mutating func put(_ all: AtRest, at index: Int) {
    if all.isEmpty { remove(at: index) } else { slots[index].entry = Self.entry(all) }
  }

  /// Takes the objects at rest out of a slot; the caller has to fill the slot again at once.
  private mutating func takeRest(at index: Int) -> AtRest {
    let entry = slots[index].entry
    switch slots[index].kind {
    case .resource: return AtRest()
    case .rows: return AtRest(rows: Int(entry >> 2))
    case .packed: return AtRest(places: [Self.place(entry)], wasUsed: entry & Self.usedBit != 0)
    case .several:
      guard let box = Self.box(entry) else { return AtRest() }
      slots[index].entry = 0
      return box.takeRetainedValue().content
    }
  }

  private static func place(_ entry: UInt) -> PackPlace { PackPlace(bits: UInt64((entry & ~usedBit) >> 2)) }

  private static func box(_ entry: UInt) -> Unmanaged<AtRestBox>? {
    UnsafeMutableRawPointer(bitPattern: entry & ~3).map { Unmanaged<AtRestBox>.fromOpaque($0) }
  }

  private static func entry(_ rest: AtRest) -> UInt {
    if rest.places.isEmpty { return UInt(rest.rows) << 2 | Kind.rows.rawValue }
    if rest.rows == 0, rest.places.count == 1 {
      return UInt(rest.places[0].bits) << 2 | Kind.packed.rawValue | (rest.wasUsed ? usedBit : 0)
    }
    return UInt(bitPattern: Unmanaged.passRetained(AtRestBox(rest)).toOpaque()) | Kind.several.rawValue
  }

  /// The index of the slot with the objects at rest under a hash; `nil` if there are none.
  private func restIndex(_ hash: UInt64) -> Int? {
    var index = home(hash)
    while slots[index].entry != 0 {
      if slots[index].hash == hash, slots[index].kind != .resource { return index }
      index = (index + 1) & mask
    }
    return nil
  }

  // MARK: In memory

  private mutating func seat(_ resource: Resource, _ gone: inout [Resource]) {
    resource.seat = seats.count
    seats.append(Unmanaged.passUnretained(resource))
    guard seats.count > limit else { return }
    // The hand makes up to four steps for each new resource, so that it passes all resources before the same number of new ones
    // has come.
    for _ in 0..<4 where seats.count > limit { step(&gone) }
  }

  private mutating func step(_ gone: inout [Resource]) {
    if hand >= seats.count { hand = 0 }
    let resource = seats[hand].takeUnretainedValue()
    if resource.isTouched {
      resource.isTouched = false
    } else if unload(resource, notUsedSince: .max) > 0 {
      // The hand stays, because the last resource was moved to this index.
      return gone.append(resource)
    }
    hand += 1
  }

  private mutating func unseat(_ resource: Resource) {
    let place = resource.seat
    guard seats.indices.contains(place) else { return }
    resource.seat = -1
    let last = seats.removeLast()
    guard place < seats.count else { return }
    seats[place] = last
    last.takeUnretainedValue().seat = place
  }

  /// Unloads idle resources until at least `limit` objects were unloaded. The caller drops them after releasing the lock.
  mutating func unload(atMost limit: Int, notUsedSince time: Int64) -> (resources: [Resource], objects: Int) {
    var unloaded: (resources: [Resource], objects: Int) = ([], 0)
    for resource in seats.map({ $0.takeUnretainedValue() }) where unloaded.objects < limit {
      let objects = unload(resource, notUsedSince: time)
      guard objects > 0 else { continue }
      unloaded.resources.append(resource)
      unloaded.objects += objects
    }
    return unloaded
  }

  /// Unloads a resource if it is idle and recorded.
  /// - Returns: the number of its objects; 0: the resource stays.
  private mutating func unload(_ resource: Resource, notUsedSince time: Int64) -> Int {
    let rest = resource.withLock { state -> AtRest in
      guard state.isSpare(notUsedSince: time) else { return AtRest() }
      let rest = state.asAtRest
      // A thread that still has a reference to this resource publishes responses in the next resource of the same key.
      if !rest.isEmpty { state.isDetached = true }
      return rest
    }
    guard !rest.isEmpty else { return 0 }
    remove(resource)
    self.rest(resource.hash, rest)
    return rest.count
  }

  mutating func remove(_ resource: Resource) {
    let entry = UInt(bitPattern: Unmanaged.passUnretained(resource).toOpaque())
    var index = home(resource.hash)
    while slots[index].entry != 0 {
      if slots[index].entry == entry {
        unseat(resource)
        Unmanaged.passUnretained(resource).release()
        return remove(at: index)
      }
      index = (index + 1) & mask
    }
  }

  /// Empties the shard. The caller drops the resources after releasing the lock.
  mutating func releaseAll() -> [Resource] {
    var resources: [Resource] = []
    for index in slots.indices where slots[index].entry != 0 {
      switch slots[index].kind {
      case .resource:
        guard let resource = Self.resource(slots[index].entry) else { continue }
        resources.append(resource)
        Unmanaged.passUnretained(resource).release()
      case .several: _ = takeRest(at: index)
      case .rows, .packed: break
      }
    }
    self = IndexShard(capacity: 0, limit: limit)
    return resources
  }

  private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & mask }

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
      // A slot must not be moved back beyond its home, because a search for it begins there.
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

  // Safe: an entry whose lowest two bits are 0 was made by `retained`, and is released only when it is taken out of the table.
  private static func resource(_ entry: UInt) -> Resource? {
    guard entry & 3 == 0, let pointer = UnsafeMutableRawPointer(bitPattern: entry) else { return nil }
    return Unmanaged<Resource>.fromOpaque(pointer).takeUnretainedValue()
  }

  private static func retained(_ resource: Resource) -> UInt {
    UInt(bitPattern: Unmanaged.passRetained(resource).toOpaque())
  }
}
