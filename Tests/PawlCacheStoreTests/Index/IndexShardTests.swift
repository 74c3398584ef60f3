import PawlCache
import PawlHTTP
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Shards of the index") struct IndexShardTests {
  /// What a shard is to say, kept in the plainest way.
  private struct Model {
    var resources: [UInt64: [Resource]] = [:]
    var rest: [UInt64: AtRest] = [:]

    var count: Int { resources.values.reduce(0) { $0 + $1.count } + rest.values.count { !$0.isEmpty } }
  }

  private struct Random {
    var state: UInt64
    mutating func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
  }

  private func resource(_ hash: UInt64, _ number: Int) -> Resource {
    Resource(key: CacheKey(authority: [], target: Bytes("/\(number)")), hash: hash, isLoaded: true)
  }

  private func check(_ shard: IndexShard, _ model: Model, _ hashes: [UInt64]) {
    #expect(shard.count == model.count)
    #expect(shard.resourceCount == model.resources.values.reduce(0) { $0 + $1.count })
    for hash in hashes {
      #expect(
        Set(shard.all(hash).map(ObjectIdentifier.init)) == Set((model.resources[hash] ?? []).map(ObjectIdentifier.init))
      )
      for place in model.rest[hash]?.places ?? [] {
        #expect(shard.wasUsed(hash, place) == (model.rest[hash]?.wasUsed ?? false))
      }
      #expect(shard.wasUsed(hash, PackPlace(pack: 999, offset: 0, size: 64)) == nil)
    }
  }

  /// A shard beside what says the same in the plainest way.
  private struct Pair {
    var random: Random
    var shard = IndexShard(capacity: 0)
    var model = Model()
    var gone: [Resource] = []
    var number = 0

    private var key: CacheKey { CacheKey(authority: [], target: Bytes("/\(number)")) }
    private var place: PackPlace { PackPlace(pack: UInt32(number), offset: 64, size: 64) }

    mutating func step(_ hash: UInt64) {
      number += 1
      switch random.next(8) {
      case 0:
        let made = Resource(key: key, hash: hash, isLoaded: true)
        shard.insert(made, &gone)
        model.resources[hash, default: []].append(made)
      case 1: if let old = model.resources[hash]?.popLast() { shard.remove(old) }
      case 2: rest(hash, AtRest(places: [place]))
      case 3: rest(hash, AtRest(rows: random.next(3)))
      case 4: awaken(hash)
      case 5: move(hash)
      case 6:
        shard.lowerRows(hash)
        if let rows = model.rest[hash]?.rows { model.rest[hash]?.rows = max(0, rows - 1) }
      default: look(hash)
      }
    }

    private mutating func rest(_ hash: UInt64, _ more: AtRest) {
      shard.rest(hash, more)
      model.rest[hash, default: AtRest()].places += more.places
      model.rest[hash, default: AtRest()].rows += more.rows
    }

    private mutating func awaken(_ hash: UInt64) {
      let woken = shard.awaken(hash, &gone) { [key] in key }
      let expected = model.rest[hash].flatMap { $0.isEmpty ? nil : $0 }
      #expect(woken?.withLock { $0.atRest } == expected)
      guard let woken else { return }
      model.rest[hash] = nil
      model.resources[hash, default: []].append(woken)
    }

    private mutating func move(_ hash: UInt64) {
      let places = model.rest[hash]?.places ?? []
      let old = places.isEmpty ? place : places[random.next(places.count)]
      let next = random.next(2) == 0 ? nil : place
      let index = places.firstIndex(of: old)
      #expect(shard.move(hash, from: old, to: next) == (index != nil))
      guard let index else { return }
      if let next { model.rest[hash]?.places[index] = next } else { model.rest[hash]?.places.remove(at: index) }
      model.rest[hash]?.wasUsed = false
    }

    /// A record is found where it is all that is at rest.
    private mutating func look(_ hash: UInt64) {
      guard let rest = model.rest[hash] else { return }
      let looked = shard.look(hash) { _ in false }
      guard rest.rows == 0, rest.places.count == 1 else { return #expect(looked.isNone) }
      guard case .record(let found)? = looked else { return #expect(Bool(false)) }
      #expect(found == rest.places[0])
      model.rest[hash]?.wasUsed = true
    }
  }

  @Test(
    "says what a dictionary says, whatever is put in, woken, moved and taken out under hashes that collide",
    arguments: 1...8)
  func model(seed: UInt64) {
    var pair = Pair(random: Random(state: seed))
    // Some share their home, and some the home of their neighbours, at the end of the table and its beginning.
    let hashes = (0..<24).map { UInt64($0 % 6) &* 0x1_0000_0000 + [0, 1, 15, 14][$0 / 6] }
    for step in 0..<4000 {
      pair.step(hashes[pair.random.next(hashes.count)])
      if step % 64 == 0 { check(pair.shard, pair.model, hashes) }
    }
    check(pair.shard, pair.model, hashes)
    let released = Set(pair.shard.releaseAll().map(ObjectIdentifier.init))
    #expect(released.count == pair.model.resources.values.reduce(0) { $0 + $1.count })
    #expect(pair.shard.count == 0)
  }

  @Test("what is at rest says where it is in one word, or in a box, and is woken as it was")
  func kinds() {
    var (shard, gone): (IndexShard, [Resource]) = (IndexShard(capacity: 4), [])
    let place = PackPlace(
      pack: PackPlace.numberLimit - 1, offset: PackPlace.packLimit - 64, size: PackPlace.recordLimit)
    let kinds = [
      AtRest(rows: 1), AtRest(rows: 70_000), AtRest(places: [place]), AtRest(places: [place], wasUsed: true),
      AtRest(rows: 2, places: [place]), AtRest(places: [place, place], wasUsed: true),
    ]
    for (hash, rest) in kinds.enumerated() { shard.rest(UInt64(hash), rest) }
    shard.rest(77, AtRest())
    #expect(shard.count == kinds.count)
    for (hash, rest) in kinds.enumerated() {
      let woken = shard.awaken(UInt64(hash), &gone) { CacheKey(authority: [], target: []) }
      #expect(woken?.withLock { $0.atRest } == rest)
      #expect(woken?.withLock { $0.isLoaded } == false)
    }
  }

  @Test("an empty resource stays, however many there are: nothing on the disk says what it was for")
  func emptyResources() {
    var (shard, gone): (IndexShard, [Resource]) = (IndexShard(capacity: 0, limit: 4), [])
    let made = (0..<100).map { resource(UInt64($0), $0) }
    for resource in made { shard.insert(resource, &gone) }
    #expect(gone.isEmpty)
    #expect(shard.resourceCount == 100)
    for resource in made { shard.remove(resource) }
    #expect(shard.count == 0)
  }
}

extension IndexShard.Looked? {
  fileprivate var isNone: Bool { if case .none = self { true } else { false } }
}
