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
      #expect(Set(shard.all(hash).map(ObjectIdentifier.init)) == Set((model.resources[hash] ?? []).map(ObjectIdentifier.init)))
      for place in model.rest[hash]?.places ?? [] {
        #expect(shard.wasUsed(hash, place) == (model.rest[hash]?.wasUsed ?? false))
      }
      #expect(shard.wasUsed(hash, PackPlace(pack: 999, offset: 0, size: 64)) == nil)
    }
  }

  @Test("says what a dictionary says, whatever is put in, woken, moved and taken out under hashes that collide", arguments: 1...8)
  func model(seed: UInt64) {
    var random = Random(state: seed)
    var (shard, model, gone): (IndexShard, Model, [Resource]) = (IndexShard(capacity: 0), Model(), [])
    // Some share their home, and some the home of their neighbours, at the end of the table and its beginning.
    let hashes = (0..<24).map { UInt64($0 % 6) &* 0x1_0000_0000 + [0, 1, 15, 14][$0 / 6] }
    var number = 0
    for _ in 0..<4000 {
      let hash = hashes[random.next(hashes.count)]
      number += 1
      let place = PackPlace(pack: UInt32(number), offset: 64, size: 64)
      switch random.next(8) {
      case 0:
        let made = resource(hash, number)
        shard.insert(made, &gone)
        model.resources[hash, default: []].append(made)
      case 1:
        guard let old = model.resources[hash]?.popLast() else { continue }
        shard.remove(old)
      case 2:
        shard.rest(hash, AtRest(places: [place]))
        model.rest[hash, default: AtRest()].places.append(place)
      case 3:
        let rows = random.next(3)
        shard.rest(hash, AtRest(rows: rows))
        model.rest[hash, default: AtRest()].rows += rows
      case 4:
        let key = CacheKey(authority: [], target: Bytes("/\(number)"))
        let woken = shard.awaken(hash, &gone) { key }
        let expected = model.rest[hash].flatMap { $0.isEmpty ? nil : $0 }
        #expect((woken != nil) == (expected != nil))
        guard let woken else { continue }
        #expect(woken.withLock { $0.atRest } == expected)
        model.rest[hash] = nil
        model.resources[hash, default: []].append(woken)
      case 5:
        let old = model.rest[hash]?.places.randomElement() ?? place
        let next = random.next(2) == 0 ? nil : place
        let index = model.rest[hash]?.places.firstIndex(of: old)
        #expect(shard.move(hash, from: old, to: next) == (index != nil))
        if let index {
          if let next { model.rest[hash]?.places[index] = next } else { model.rest[hash]?.places.remove(at: index) }
          model.rest[hash]?.wasUsed = false
        }
      case 6:
        shard.lowerRows(hash)
        if let rows = model.rest[hash]?.rows { model.rest[hash]?.rows = max(0, rows - 1) }
      default:
        // The resources come first under one hash only by chance: a record is found where it is the only thing at rest.
        guard let rest = model.rest[hash] else { continue }
        let looked = shard.look(hash) { _ in false }
        if rest.rows == 0, rest.places.count == 1 {
          guard case .record(let found)? = looked else { return #expect(Bool(false)) }
          #expect(found == rest.places[0])
          model.rest[hash]?.wasUsed = true
        } else {
          #expect(looked == nil)
        }
      }
      if number % 64 == 0 { check(shard, model, hashes) }
    }
    check(shard, model, hashes)
    #expect(Set(shard.releaseAll().map(ObjectIdentifier.init)).count == model.resources.values.reduce(0) { $0 + $1.count })
    #expect(shard.count == 0)
  }

  @Test("what is at rest says where it is in one word, or in a box, and is woken as it was")
  func kinds() {
    var (shard, gone): (IndexShard, [Resource]) = (IndexShard(capacity: 4), [])
    let place = PackPlace(pack: PackPlace.numberLimit - 1, offset: PackPlace.packLimit - 64, size: PackPlace.recordLimit)
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
