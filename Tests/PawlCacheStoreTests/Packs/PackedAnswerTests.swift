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
      key.target.withUnsafeBytes {
        fixture.store.look(authority: authority, target: $0, in: room, now: fixture.loop.now)
      }
    }
  }

  private func hit(_ fixture: StoreFixture, _ target: String = "/a") -> (hit: PackedHit, content: [UInt8])? {
    let room = PackRoom()
    guard case .record? = look(fixture, target, room), let hit = room.hit else { return nil }
    return withExtendedLifetime(room) { (hit, content(hit)) }
  }

  private func content(_ hit: PackedHit) -> [UInt8] {
    guard let slice = hit.slice else { return Array(hit.content) }
    var bytes = [UInt8](repeating: 0, count: slice.count)
    let count = bytes.withUnsafeMutableBytes { pread(slice.fd, $0.baseAddress, $0.count, off_t(slice.offset)) }
    return count == bytes.count ? bytes : []
  }

  private func hit(
    _ pack: Pack, _ place: PackPlace, _ authority: String, _ target: String, _ fixture: StoreFixture, _ seed: UInt64
  ) -> PackedHit? {
    let room = PackRoom()
    return Array(authority.utf8).withUnsafeBytes { authority in
      Array(target.utf8).withUnsafeBytes {
        pack.hit(place, in: room, authority: authority, target: $0, seed: seed, now: fixture.loop.now)
      }
    }
  }

  private func proof(_ fixture: StoreFixture) throws -> RecordProof {
    let found = try #require(hit(fixture))
    return try #require(found.hit.proof)
  }

  /// A cache with two bodies of so many bytes at rest in one pack that is full.
  private func large(_ count: Int) throws -> StoreFixture {
    let fixture = try StoreFixture(packingIn: TestDirectory()) { $0.packedObject = 1 << 20 }
    for target in ["/a", "/b"] { try store(fixture, target, pattern(count)) }
    try fixture.settle()
    return try StoreFixture(packingIn: try fixture.directory.copy()) { $0.packedObject = 1 << 20 }
  }

  @Test(
    "content is sent from where it lies from the least size on that is worth it, up to the largest",
    arguments: [
      (ProvenRecords.least - 1, false), (ProvenRecords.least, true), (262_144, true), (1 << 20, true),
    ])
  func slices(count: Int, isSlice: Bool) throws {
    let fixture = try large(count)
    for _ in 0..<3 {
      let (hit, content) = try #require(self.hit(fixture))
      #expect((hit.slice != nil) == isSlice)
      #expect((hit.slice?.count ?? hit.content.count, hit.count) == (count, count))
      #expect(content == pattern(count))
    }
    #expect(fixture.store.core.bodyCount.load() == 0)
  }

  @Test("what was proven is not given any more once somebody else has changed it")
  func changedAfterProof() throws {
    let fixture = try large(40_000)
    let proof = try proof(fixture)
    #expect(proof.holds(now: fixture.loop.now))
    try tamper(fixture) { bytes in bytes[Int(proof.base) + 39_999] ^= 1 }
    let later = fixture.loop.now.advanced(by: .milliseconds(5))
    #expect(!proof.holds(now: later))
    let pack = try #require(fixture.store.core.packs?.all.first)
    #expect(!pack.hasProven(proof.base, now: later))
    #expect(hit(fixture, "/a") == nil)
    // The other one is as it was.
    #expect(hit(fixture, "/b")?.content == pattern(40_000))
  }

  @Test("what stands beside a change by somebody else is proven anew, and holds")
  func changedBeside() throws {
    let fixture = try large(40_000)
    let proof = try proof(fixture)
    try tamper(fixture) { bytes in bytes[bytes.count - 1] ^= 1 }
    #expect(proof.holds(now: fixture.loop.now.advanced(by: .milliseconds(5))))
  }

  @Test("what pawl itself marks in a pack changes nothing of what was proven")
  func marked() throws {
    let fixture = try large(40_000)
    let proof = try proof(fixture)
    let pack = try #require(fixture.store.core.packs?.all.first)
    fixture.store.core.drop(try #require(try fixture.first("/b")).body)
    try fixture.settle()
    #expect(pack.live < pack.size / 2 + 4096)
    #expect(pack.hasProven(proof.base, now: fixture.loop.now.advanced(by: .milliseconds(5))))
    #expect(pack.isSame(fixture.loop.now.advanced(by: .milliseconds(5)), proof.changes))
  }

  @Test("a proof holds for its time, and no longer")
  func notProven() throws {
    let fixture = try large(40_000)
    let proof = try proof(fixture)
    let (pack, now) = (proof.pack, fixture.loop.now)
    #expect(pack.hasProven(proof.base, now: now.advanced(by: .seconds(Int64(PageWarmth.holds)))))
    #expect(!pack.hasProven(proof.base, now: now.advanced(by: .seconds(Int64(PageWarmth.holds) + 1))))
  }

  @Test("what was written just now is proven, whatever is written behind it, until somebody else writes there")
  func open() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let bodies = try ["/a", "/b", "/c"].map { try store(fixture, $0, pattern(40_000)).body }
    let pack = try #require(fixture.store.core.packs?.all.first)
    #expect(!pack.isSealed)
    let now = fixture.clock.now()
    let bases = try bodies.map { try #require($0.state.withLock { $0.descriptor }).base }
    for base in bases { #expect(pack.hasProven(base, now: now)) }
    try tamper(fixture) { bytes in bytes[Int(bases[1]) + 7] ^= 1 }
    let later = now.advanced(by: .milliseconds(5))
    for base in bases { #expect(!pack.hasProven(base, now: later)) }
    // What is written behind that does not bring the proof back.
    try store(fixture, "/d", pattern(40_000))
    #expect(!pack.hasProven(bases[1], now: later.advanced(by: .milliseconds(5))))
    #expect(bodies[1].ready(0..<40_000, isNamed: false, now: later) == nil)
  }

  @Test("a large body in memory is sent from its pack, whole and in part")
  func loaded() throws {
    let fixture = try large(262_144)
    let body = try #require(try fixture.first("/a")).body
    for range in [0..<262_144, 100..<300] as [Range<UInt64>] {
      for _ in 0..<2 {
        guard case .file(let slice)? = body.ready(range, isNamed: false, now: fixture.loop.now) else {
          return #expect(Bool(false))
        }
        #expect(slice.offset - slice.base == range.lowerBound)
        #expect(slice.count == range.count)
      }
    }
    try tamper(fixture) { bytes in bytes[bytes.count / 4] ^= 1 }
    #expect(body.ready(0..<262_144, isNamed: false, now: fixture.loop.now.advanced(by: .milliseconds(5))) == nil)
  }

  /// Changes bytes of the only pack.
  private func tamper(_ fixture: StoreFixture, _ change: (inout [UInt8]) -> Void) throws {
    let pack = fixture.store.core.packs?.all.first
    let path = fixture.store.core.packs?.path(of: try #require(pack).number) ?? ""
    var bytes = try TestDirectory.contents(path)
    change(&bytes)
    let descriptor = try Files.open(path, O_WRONLY)
    defer { close(descriptor) }
    try Files.writeAll(descriptor, bytes[...], at: 0)
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

  @Test("a byte of it that is another makes it none, but for what pads it")
  func everyByte() throws {
    let fixture = try fixture()
    let packs = try #require(fixture.store.core.packs)
    let pack = try #require(packs.all.first)
    let place = PackPlace(pack: pack.number, offset: Pack.headSize, size: pack.size - Pack.headSize)
    guard case .bytes(let intact) = pack.read(place, waits: true) else { return #expect(Bool(false)) }
    let padding = intact.count - (PackRecord.padded(5000) - 5000)
    for index in intact.indices {
      try Files.writeAll(pack.descriptor, [intact[index] ^ 0x10], at: UInt64(place.offset + index))
      let hit = hit(pack, place, "a.example", "/a", fixture, packs.seed)
      #expect((hit == nil) == (index < padding), "byte \(index)")
      try Files.writeAll(pack.descriptor, [intact[index]], at: UInt64(place.offset + index))
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

  @Test("a record whose head is damaged is gone, and told of; one that pawl has marked is gone without a word")
  func damagedHead() throws {
    let fixture = try fixture(["/a", "/b"])
    try tamper(fixture) { $0[Pack.headSize + PackRecord.unit + 20] ^= 1 }
    let isThere = try ["/a", "/b"].map { try fixture.first($0) != nil }
    #expect(isThere.count { $0 } == 1)
    let line = try #require(fixture.logged("body-dropped").first)
    #expect(line.contains("offset=\(Pack.headSize)"))
    #expect(fixture.logged("body-dropped").count == 1)
    #expect(fixture.store.statistics.drops == 1)
    let other = try self.fixture(["/a"])
    let pack = try #require(other.store.core.packs?.all.first)
    let place = PackPlace(pack: pack.number, offset: Pack.headSize, size: pack.size - Pack.headSize)
    #expect(try pack.kill(place, waits: true))
    #expect(try other.first("/a") == nil)
    #expect(other.logged("body-dropped").isEmpty)
  }

  @Test("none is given under another key, of the same hash or not")
  func otherKey() throws {
    let fixture = try fixture()
    let packs = try #require(fixture.store.core.packs)
    var places: [PackPlace] = []
    _ = packs.scan(try #require(packs.all.first), through: packs.size) { places.append($1) }
    let (pack, place) = (try #require(packs.all.first), try #require(places.first))
    for (authority, target, isSame) in [
      ("a.example", "/a", true), ("a.example", "/b", false), ("b.example", "/a", false),
    ] {
      #expect((hit(pack, place, authority, target, fixture, packs.seed) != nil) == isSame)
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
