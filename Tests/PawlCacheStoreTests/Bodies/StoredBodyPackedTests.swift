import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Bodies in packs") struct StoredBodyPackedTests {
  private func place(_ response: StoredResponse) -> BodyPlace { response.body.state.withLock { $0.place } }

  /// Changes one byte of the content where it stands.
  private func damage(_ response: StoredResponse, at offset: Int = 0) throws {
    let descriptor = try #require(response.body.state.withLock { $0.descriptor })
    var byte: UInt8 = 0
    pread(descriptor.raw, &byte, 1, off_t(descriptor.base) + off_t(offset))
    byte ^= 1
    pwrite(descriptor.raw, &byte, 1, off_t(descriptor.base) + off_t(offset))
  }

  @Test("what changes of it is found after a kill, and nothing of what it was")
  func rewrites() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let old = try fixture.store("/a", pattern(5000))
    let before = try #require(place(old).packed)
    old.body.addTag(TagRecord(tag: Array("alias".utf8), limit: 50))
    _ = fixture.store.updateHead(old, head: fixture.head([(.etag, "\"n\"")]))
    try fixture.settle()
    #expect(place(old).packed != before)
    #expect(fixture.store.core.packs?.record(before) == nil)
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    let found = try #require(try copy.first("/a"))
    #expect(found.head.fields.first(.etag).map { Array($0) } == Array("\"n\"".utf8))
    #expect(found.body.tagLimit(Array("alias".utf8)) == 50)
    #expect(try copy.readAll(found.body) == pattern(5000))
    #expect(try copy.loaded("/a")?.withLock { $0.responses.count } == 1)
  }

  @Test("what changes at the last moment is recorded when the cache closes")
  func closes() throws {
    let directory = TestDirectory()
    do {
      let fixture = try StoreFixture(packingIn: directory)
      let old = try fixture.store("/a", pattern(5000))
      fixture.store.supersede(old, in: try fixture.resource("/a"))
    }
    let fixture = try StoreFixture(packingIn: directory)
    let resource = try #require(try fixture.loaded("/a"))
    #expect(resource.withLock { $0.variants.isEmpty })
    #expect(resource.withLock { $0.superseded.count } == 1)
  }

  @Test("a record whose change finds no room in packs gets a file, and the change stands in its rows")
  func rewritesIntoFile() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let old = try fixture.store("/a", pattern(5000))
    let pack = try #require(place(old).packed.flatMap { fixture.store.core.packs?.pack($0.pack) })
    // Whichever lane writes, none takes anything.
    for _ in 0..<40 { try fixture.store("/fill", pattern(10)) }
    let packs = fixture.store.core.packs?.all ?? [pack]
    func full(_ rest: ArraySlice<Pack>, _ body: () throws -> Void) throws {
      guard let first = rest.first else { return try body() }
      try first.whileFull { try full(rest.dropFirst(), body) }
    }
    // What is read comes from memory before the disk is full: the record is written by one who has read it.
    old.body.unpack()
    #expect(place(old).isFile)
    try full(packs[...]) { fixture.store.supersede(old, in: try fixture.resource("/a")) }
    try fixture.settle()
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    let resource = try #require(try copy.loaded("/a"))
    #expect(resource.withLock { $0.variants.isEmpty && $0.superseded.count == 1 })
  }

  @Test("a body that is unpacked while it changes loses no change, whoever is first", arguments: 0..<20)
  func unpacksWhileChanging(round: Int) throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let old = try fixture.store("/a", pattern(5000))
    if round.isMultiple(of: 2) { fixture.pool.run { old.body.unpack() } }
    old.body.addTag(TagRecord(tag: Array("one".utf8), limit: 1))
    fixture.store.supersede(old, in: try fixture.resource("/a"))
    if !round.isMultiple(of: 2) { fixture.pool.run { old.body.unpack() } }
    old.body.addTag(TagRecord(tag: Array("two".utf8), limit: 2))
    try fixture.settle()
    #expect(place(old).isFile)
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    let resource = try #require(try copy.loaded("/a"))
    #expect(resource.withLock { $0.variants.isEmpty })
    let found = try #require(resource.withLock { $0.superseded.first })
    #expect(found.body.tagLimit(Array("one".utf8)) == 1)
    #expect(found.body.tagLimit(Array("two".utf8)) == 2)
    #expect(try copy.readAll(found.body) == pattern(5000))
    #expect(found.body.isComplete)
  }

  @Test("one that is dropped is gone after a kill, wherever it was going", arguments: 0..<10)
  func dropsWhileChanging(round: Int) throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let old = try fixture.store("/a", pattern(5000))
    old.body.addTag(TagRecord(tag: Array("one".utf8), limit: 1))
    if round.isMultiple(of: 3) { fixture.pool.run { old.body.unpack() } }
    fixture.store.forget(old)
    try fixture.settle()
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    try copy.settle()
    #expect(try copy.first("/a") == nil)
    #expect(copy.store.core.packs?.all.reduce(0) { $0 + $1.live } == 0)
    #expect(copy.store.statistics.usedBytes < 20_000)
  }

  @Test("damaged content is not given at once; who reads finds out, it is cut, and what comes again mends it in a file")
  func mends() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory()) { $0.memory = 0 }
    let response = try fixture.store("/a", pattern(5000))
    let body = response.body
    #expect(body.ready(0..<5000, isNamed: false, now: fixture.loop.now) != nil)
    try damage(response, at: 17)
    #expect(body.ready(0..<5000, isNamed: false, now: fixture.loop.now) == nil)
    #expect(!body.isUntouched() || body.availability(at: 0) == .checking)
    // Somebody brings it again.
    body.withFill { $0 = fixture }
    #expect(try fixture.check(body, at: 0) == .checked)
    #expect(place(response).isFile)
    #expect(body.lostRun(at: 0) == 0..<5000)
    try body.write(pattern(5000))
    #expect(body.complete())
    body.withFill { $0 = nil }
    #expect(try fixture.readAll(body) == pattern(5000))
    try fixture.settle()
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    #expect(try copy.first("/a").map { try copy.readAll($0.body) } == pattern(5000))
  }

  @Test("damage that nobody mends takes the object, and nothing else in its pack")
  func drops() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory()) { $0.memory = 0 }
    let (one, other) = (try fixture.store("/a", pattern(5000)), try fixture.store("/b", pattern(6000, seed: 2)))
    try damage(one)
    #expect(!one.body.isUntouched())
    #expect(try fixture.check(one.body, at: 0) == .checked)
    try fixture.settle()
    #expect(try fixture.first("/a") == nil)
    #expect(try fixture.readAll(other.body) == pattern(6000, seed: 2))
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    #expect(try copy.first("/a") == nil)
    #expect(try copy.first("/b").map { try copy.readAll($0.body) } == pattern(6000, seed: 2))
  }

  @Test("where a damaged one gets no file nothing is written into its pack")
  func noFileForMending() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory()) { $0.memory = 0 }
    let (one, other) = (try fixture.store("/a", pattern(5000)), try fixture.store("/b", pattern(6000, seed: 2)))
    try damage(one)
    TestDirectory.remove(fixture.store.core.folder(of: one.body.id))
    one.body.withFill { $0 = fixture }
    #expect(!one.body.isUntouched())
    #expect(try fixture.check(one.body, at: 0) == .checked)
    #expect(one.body.failure != nil)
    #expect(throws: StoreError.self) { try one.body.write(pattern(5000)) }
    one.body.withFill { $0 = nil }
    #expect(try fixture.readAll(other.body) == pattern(6000, seed: 2))
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    #expect(try copy.first("/b").map { try copy.readAll($0.body) } == pattern(6000, seed: 2))
  }

  @Test("content that was damaged while pawl did not run is never given", arguments: [0, 4999])
  func damagedAtRest(offset: Int) throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let response = try fixture.store("/a", pattern(5000))
    try damage(response, at: offset)
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    let found = try #require(try copy.first("/a"))
    #expect(found.body.availability(at: 0) == .checking)
    #expect(found.body.ready(0..<5000, isNamed: false, now: copy.loop.now) == nil)
    #expect(found.body.inMemory == nil)
    #expect(try copy.readAll(found.body) == [])
  }

  @Test("what makes the one of the other says all that can change")
  func between() {
    let row = ObjectRow(
      number: 1, id: ObjectID(high: 1, low: 1), keyHash: 1, key: [], kind: .shared, owner: nil, head: [1], total: 1,
      isComplete: true, held: 1, synced: 1, isSuspect: false, storedAt: 0, supersededAt: nil, lastUsed: 0, uses: 0,
      expires: nil)
    var changed = row
    (changed.head, changed.supersededAt, changed.owner) = ([2], 5, [3])
    let tags = [TagRecord(tag: [1], limit: 2)]
    #expect(CatalogueChange.between((row, tags), (row, tags)).isEmpty)
    var (result, resultTags) = (row, [TagRecord]())
    for change in CatalogueChange.between((row, []), (changed, tags)) { change.apply(to: &result, &resultTags) }
    #expect((result.head, result.supersededAt, result.owner, resultTags) == ([2], 5, [3], tags))
    for change in CatalogueChange.between((changed, tags), (row, [])) { change.apply(to: &result, &resultTags) }
    #expect((result.head, result.supersededAt, resultTags) == ([1], nil, []))
  }
}
