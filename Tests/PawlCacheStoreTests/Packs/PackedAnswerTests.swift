import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Answers that are given as they stand") struct PackedAnswerTests {
  private static let answer = PackedAnswer(
    settings: 11, from: 22, until: 33, born: -44, flags: 55, head: Array("HTTP/1.1 200 OK\r\n".utf8))

  /// A cache in which that is stored with its answer, at rest.
  private func fixture(_ targets: [String] = ["/a"], _ change: (StoreFixture) throws -> Void = { _ in }) throws
    -> StoreFixture
  {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    for target in targets { try store(fixture, target) }
    try change(fixture)
    try fixture.settle()
    return try StoreFixture(packingIn: try fixture.directory.copy())
  }

  @discardableResult
  private func store(
    _ fixture: StoreFixture, _ target: String, _ bytes: [UInt8] = pattern(5000), superseding: [StoredResponse] = []
  ) throws -> StoredResponse {
    let body = try fixture.body(total: UInt64(bytes.count))
    body.addTag(TagRecord(tag: Array("t".utf8)))
    let response = StoredResponse(head: fixture.head(), body: body, storedAt: fixture.clock.wallSeconds())
    fixture.store.publish(response, in: try fixture.resource(target), superseding: superseding)
    body.decideWhenPacked { _ in Self.answer }
    try body.write(bytes)
    #expect(body.complete())
    return response
  }

  private func look(_ fixture: StoreFixture, _ target: String, _ room: PackRoom) -> CacheStore.Looked? {
    let key = fixture.key(target)
    return key.authority.withUnsafeBytes { authority in
      key.target.withUnsafeBytes { fixture.store.look(authority: authority, target: $0, in: room) }
    }
  }

  private func hit(_ fixture: StoreFixture, _ target: String = "/a") -> (hit: PackedHit, content: [UInt8])? {
    let room = PackRoom()
    guard case .record? = look(fixture, target, room), let hit = room.hit else { return nil }
    return withExtendedLifetime(room) { (hit, Array(hit.content)) }
  }

  /// Changes octets of the only pack.
  private func tamper(_ fixture: StoreFixture, _ change: (inout [UInt8]) -> Void) throws {
    let pack = fixture.store.core.packs?.all.first
    let path = fixture.store.core.packs?.path(of: try #require(pack).number) ?? ""
    var octets = try TestDirectory.contents(path)
    change(&octets)
    let descriptor = try Files.open(path, O_WRONLY)
    defer { close(descriptor) }
    try Files.writeAll(descriptor, octets[...], at: 0)
  }

  @Test("what is at rest is given with the answer that was decided for it, and stays at rest")
  func gives() throws {
    let fixture = try fixture()
    for _ in 0..<3 {
      let (hit, content) = try #require(self.hit(fixture))
      #expect((hit.settings, hit.from, hit.until, hit.born, hit.flags) == (11, 22, 33, -44, 55))
      #expect(content == pattern(5000))
    }
    #expect(fixture.store.core.bodyCount.load() == 0)
    // It is there for those about whom something is special.
    #expect(try fixture.first("/a").map { try fixture.readAll($0.body) } == pattern(5000))
    #expect(hit(fixture) == nil)
  }

  @Test("the head is that which was decided")
  func head() throws {
    let fixture = try fixture()
    let room = PackRoom()
    guard case .record? = look(fixture, "/a", room), let hit = room.hit else { return #expect(Bool(false)) }
    #expect(Array(hit.head) == Self.answer.head)
    withExtendedLifetime(room) {}
  }

  @Test("an octet of it that is another makes it none, but for what pads it")
  func everyOctet() throws {
    let fixture = try fixture()
    let packs = try #require(fixture.store.core.packs)
    let pack = try #require(packs.all.first)
    let place = PackPlace(pack: pack.number, offset: Pack.headSize, size: pack.size - Pack.headSize)
    guard case .octets(let intact) = pack.read(place, waits: true) else { return #expect(Bool(false)) }
    let padding = intact.count - (PackRecord.padded(5000) - 5000)
    for place in intact.indices {
      var octets = intact
      octets[place] ^= 0x10
      let hit = octets.withUnsafeBytes { octets in
        Array("a.example".utf8).withUnsafeBytes { authority in
          Array("/a".utf8).withUnsafeBytes { PackedHit(octets, authority: authority, target: $0, seed: packs.seed) }
        }
      }
      #expect((hit == nil) == (place < padding), "octet \(place)")
    }
  }

  @Test("damaged content is never given, and who asks next does not get it either")
  func damaged() throws {
    let fixture = try fixture()
    try tamper(fixture) { $0[$0.count - 100] ^= 1 }
    #expect(hit(fixture) == nil)
    let found = try #require(try fixture.loaded("/a")?.withLock { $0.variants.first })
    #expect(found.body.ready(0..<5000, isNamed: false, now: fixture.loop.now) == nil)
    #expect(try fixture.readAll(found.body) == [])
  }

  @Test("none is given under another key, of the same hash or not")
  func otherKey() throws {
    let fixture = try fixture()
    let packs = try #require(fixture.store.core.packs)
    var places: [PackPlace] = []
    _ = packs.scan(try #require(packs.all.first), through: packs.size) { places.append($1) }
    let (pack, place, room) = (try #require(packs.all.first), try #require(places.first), PackRoom())
    for (authority, target, isSame) in [
      ("a.example", "/a", true), ("a.example", "/b", false), ("b.example", "/a", false),
    ] {
      let octets = try #require(pack.read(place, into: room))
      let hit = Array(authority.utf8).withUnsafeBytes { authority in
        Array(target.utf8).withUnsafeBytes { PackedHit(octets, authority: authority, target: $0, seed: packs.seed) }
      }
      #expect((hit != nil) == isSame)
    }
    #expect(hit(fixture, "/b") == nil)
  }

  @Test("none is given of what has been superseded, changed, dropped or is one of several")
  func notAsItWas() throws {
    let changes: [(StoreFixture, StoredResponse) throws -> Void] = [
      { $0.store.supersede($1, in: try $0.resource("/a")) },
      { _ = $0.store.updateHead($1, head: $0.head([(.etag, "\"n\"")])) },
      {
        $1.body.addTag(TagRecord(tag: Array("alias".utf8))); _ = $0
      },
      { $0.store.forget($1) },
      { fixture, _ in try fixture.store("/a", pattern(10)) },
    ]
    for (number, change) in changes.enumerated() {
      let fixture = try fixture([]) { fixture in try change(fixture, try store(fixture, "/a")) }
      #expect(hit(fixture) == nil, "\(number)")
    }
  }

  @Test("none is given of a superseded one that is alone since what took its place has gone")
  func superseded() throws {
    let fixture = try fixture([]) { fixture in
      let old = try store(fixture, "/a")
      let new = try store(fixture, "/a", pattern(10), superseding: [old])
      fixture.store.forget(new)
    }
    #expect(hit(fixture) == nil)
    let resource = try #require(try fixture.loaded("/a"))
    #expect(resource.withLock { $0.variants.isEmpty })
  }

  @Test("none is given of what is out of date below a path; what came later is, and what lies elsewhere")
  func outdated() throws {
    let fixture = try fixture(["/a/1", "/b"])
    let _: Bool = try fixture.result { done in
      fixture.store.forgetAll(below: fixture.key("/a/"), on: fixture.loop) { done(true) }
    }
    #expect(hit(fixture, "/a/1") == nil)
    #expect(try fixture.first("/a/1") == nil)
    #expect(hit(fixture, "/b") != nil)
    try store(fixture, "/a/2")
    try fixture.settle()
    let later = try StoreFixture(packingIn: try fixture.directory.copy())
    #expect(hit(later, "/a/2") != nil)
    #expect(hit(later, "/b") != nil)
  }

  @Test("what has been used goes back to rest, and is given as it stands again, with its answer")
  func unloads() throws {
    let fixture = try fixture()
    #expect(try fixture.first("/a") != nil)
    #expect(hit(fixture) == nil)
    try fixture.settle()
    fixture.store.index.unload(beyond: 0, responses: 1, now: .max)
    #expect(hit(fixture)?.content == pattern(5000))
  }
}
