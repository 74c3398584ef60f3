import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Bodies that are gathered") struct StoredBodyGatheringTests {
  private static let limit = 64 << 10

  /// A body of which nothing has come, published.
  private func begin(
    _ fixture: StoreFixture, _ target: String, total: UInt64?, fields: [(FieldName, String)] = []
  ) throws -> StoredResponse {
    let body = try fixture.body(total: total)
    body.addTag(TagRecord(tag: Array("t".utf8)))
    let response = StoredResponse(head: fixture.head(fields), body: body, storedAt: fixture.clock.wallSeconds())
    fixture.store.publish(response, in: try fixture.resource(target))
    return response
  }

  private func place(_ response: StoredResponse) -> BodyPlace { response.body.state.withLock { $0.place } }

  private func bodyFiles(_ directory: TestDirectory) -> Int {
    TestDirectory.entries(directory.path + "/cache/bodies").flatMap { TestDirectory.entries($0) }
      .count { !Files.isEmpty($0) }
  }

  @Test(
    "what comes whole becomes one record: it has no file and no rows, and is found after a kill",
    arguments: [0, 1, 10_240, limit])
  func whole(count: Int) throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let response = try fixture.store("/a", pattern(count))
    #expect(place(response).packed != nil)
    #expect(try fixture.readAll(response.body) == pattern(count))
    #expect(bodyFiles(fixture.directory) == 0)
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    let found = try #require(try copy.first("/a"))
    #expect(try copy.readAll(found.body) == pattern(count))
    #expect(found.body.isComplete)
    #expect(found.body.tagLimit(Array("t".utf8)) == .max)
    #expect(found.body.number == response.body.number)
    // No number comes twice.
    #expect(try copy.store("/b", pattern(1)).body.number > response.body.number)
  }

  @Test("a body of the largest size that is packed is, and one byte more has a file")
  func limits() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let (most, more) = (try fixture.store("/a", pattern(Self.limit)), try fixture.store("/b", pattern(Self.limit + 1)))
    #expect(place(most).packed != nil)
    #expect(place(more).isFile)
    #expect(access(fixture.path(of: more.body), F_OK) == 0)
  }

  @Test("the same of a length that nobody knew", arguments: [(limit, true), (limit + 1, false)])
  func unknownLength(count: Int, isPacked: Bool) throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let response = try begin(fixture, "/a", total: nil)
    let bytes = pattern(count)
    for start in stride(from: 0, to: count, by: 10_000) {
      try response.body.write(Array(bytes[start..<min(start + 10_000, count)]), at: UInt64(start))
    }
    response.body.setTotal(UInt64(count))
    #expect(response.body.complete())
    #expect((place(response).packed != nil) == isPacked)
    #expect(try fixture.readAll(response.body) == bytes)
    #expect(fixture.store.reservedBytes == 0)
  }

  @Test("nothing of it is given before all has come; then who waits is woken")
  func wakes() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let body = try begin(fixture, "/a", total: 100).body
    try body.write(pattern(99))
    #expect(body.availability(at: 0) == .missing)
    #expect(body.held.prefix == 0)
    var isReady = false
    body.wait(at: 0, token: ObjectIdentifier(fixture), on: fixture.loop) { isReady = true }
    try fixture.settle()
    #expect(!isReady)
    #expect(!body.complete())
    try body.write([pattern(100)[99]], at: 99)
    #expect(body.complete())
    fixture.loop.turn { !isReady }
    #expect(try fixture.readAll(body) == pattern(100))
  }

  @Test("one that is long in coming gets a file with what there is, and that is given")
  func settles() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let response = try begin(fixture, "/a", total: 30_000)
    let body = response.body
    try body.write(Array(pattern(30_000)[..<10_000]))
    body.moveToFileSoon()
    try body.write(Array(pattern(30_000)[10_000..<20_000]), at: 10_000)
    try fixture.settle()
    #expect(place(response).isFile)
    #expect(try fixture.readAll(body) == Array(pattern(30_000)[..<20_000]))
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    #expect(try copy.first("/a").map { try copy.readAll($0.body) } == Array(pattern(30_000)[..<20_000]))
    try body.write(Array(pattern(30_000)[20_000...]), at: 20_000)
    #expect(body.complete())
    #expect(try fixture.readAll(body) == pattern(30_000))
    #expect(fixture.store.reservedBytes == 0)
  }

  @Test("while a file is made for one, no more of it is gathered than a segment has digests for")
  func mostOnItsWay() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory()) { $0.packedObject = 1 << 20 }
    let body = try begin(fixture, "/a", total: nil).body
    let span = Int(SegmentTable.span)
    try body.write(pattern(span - 1000))
    body.state.withLock { $0.place = .settling }
    pattern(1000).withUnsafeBytes { #expect(body.gather($0, at: UInt64(span - 1000)) == .gathered) }
    [UInt8(1)].withUnsafeBytes { #expect(body.gather($0, at: UInt64(span)) == .full) }
    body.state.withLock { $0.place = .gathered }
  }

  @Test(
    "one of which so much has come that all will be there soon is waited for",
    arguments: [
      (10_000, 10, true), (2_000, 10, true), (1_999, 10, false), (0, 10, false), (9_000, 45, true), (9_000, 46, false),
      (9_999, 50, false),
    ])
  func isWholeSoon(came: Int, milliseconds: Int, isSoon: Bool) throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let body = try begin(fixture, "/a", total: 10_000).body
    try body.write(Array(pattern(10_000)[..<came]))
    #expect(body.isWholeSoon(after: .milliseconds(milliseconds)) == isSoon)
    let unknown = try begin(fixture, "/b", total: nil).body
    try unknown.write(Array(pattern(10_000)[..<came]))
    #expect(!unknown.isWholeSoon(after: .milliseconds(milliseconds)))
  }

  @Test("whoever gives it a file while another does, or completes it meanwhile, finds all of it", arguments: 0..<20)
  func settlesAtOnce(round: Int) throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let body = try begin(fixture, "/a", total: round.isMultiple(of: 2) ? 20_000 : nil).body
    let bytes = pattern(20_000)
    try body.write(Array(bytes[..<15_000]))
    body.moveToFileSoon()
    for _ in 0..<3 { fixture.pool.run { body.moveToFile() } }
    try body.write(Array(bytes[15_000...]), at: 15_000)
    if round.isMultiple(of: 3) { _ = body.slice(0..<1) }
    if body.total == nil { body.setTotal(20_000) }
    #expect(body.complete())
    try fixture.settle()
    #expect(body.failure == nil)
    #expect(try fixture.readAll(body) == bytes)
    #expect(fixture.logged("body-refused").isEmpty)
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    #expect(try copy.first("/a").map { try copy.readAll($0.body) } == bytes)
  }

  @Test(
    "a fill that pauses leaves what it brought in a file; one that brought nothing leaves nothing",
    arguments: [0, 5000])
  func pauses(count: Int) throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let response = try begin(fixture, "/a", total: 9000)
    if count > 0 { try response.body.write(Array(pattern(9000)[..<count])) }
    response.body.fillPaused()
    fixture.store.flush()
    #expect(place(response).isFile)
    #expect(fixture.store.reservedBytes == 0)
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    let found = try copy.first("/a")
    #expect(found?.body.held.prefix == (count == 0 ? nil : UInt64(count)))
  }

  @Test("one that a kill meets while it is gathered was never there")
  func killed() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let body = try begin(fixture, "/a", total: 9000).body
    try body.write(Array(pattern(9000)[..<5000]))
    fixture.store.flush()
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    try copy.settle()
    #expect(try copy.first("/a") == nil)
    #expect(copy.store.usedBytes == 0)
  }

  @Test(
    "one that is dropped while it is gathered is for those alone who read it, and comes back never",
    arguments: [0, 1, 2])
  func doomed(way: Int) throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let response = try begin(fixture, "/a", total: 9000)
    let body = response.body
    try body.write(Array(pattern(9000)[..<5000]))
    fixture.store.forget(response)
    #expect(try fixture.first("/a") == nil)
    if way == 1 { body.moveToFile() }
    try body.write(Array(pattern(9000)[5000...]), at: 5000)
    if way == 2 { body.fillPaused() }
    #expect(body.complete())
    #expect(try body.inMemory ?? fixture.readAll(body) == pattern(9000))
    try fixture.settle()
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    try copy.settle()
    #expect(try copy.first("/a") == nil)
    #expect(copy.store.usedBytes == 0)
    #expect(bodyFiles(fixture.directory) == 0)
  }

  @Test("what changes of it while it is gathered stands in its record")
  func changes() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let old = try begin(fixture, "/a", total: 5000)
    try old.body.write(Array(pattern(5000)[..<100]))
    old.body.addTag(TagRecord(tag: Array("alias".utf8), limit: 50))
    let updated = fixture.store.updateHead(old, head: fixture.head([(.etag, "\"n\"")]))
    let new = try begin(fixture, "/a", total: 10)
    fixture.store.publish(new, in: try fixture.resource("/a"), superseding: [updated])
    try old.body.write(Array(pattern(5000)[100...]), at: 100)
    #expect(old.body.complete())
    fixture.store.flush()
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    let resource = try #require(try copy.loaded("/a"))
    #expect(resource.withLock { $0.variants.isEmpty })
    let found = try #require(resource.withLock { $0.superseded.first })
    #expect(found.head.fields.first(.etag).map { Array($0) } == Array("\"n\"".utf8))
    #expect(found.body.tagLimit(Array("alias".utf8)) == 50)
    #expect(found.supersededAt != nil)
  }

  @Test(
    "the answer to a request about which nothing is special is kept with it, unless it has been superseded",
    arguments: [false, true])
  func decides(isSuperseded: Bool) throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let old = try begin(fixture, "/a", total: 5000)
    old.body.decideWhenPacked { _ in
      PackedAnswer(settings: 1, from: 0, until: .max, born: 0, flags: 0, head: Array("HTTP/1.1 200 OK\r\n".utf8))
    }
    if isSuperseded { fixture.store.supersede(old, in: try fixture.resource("/a")) }
    try old.body.write(pattern(5000))
    #expect(old.body.complete())
    let place = try #require(place(old).packed)
    let record = try #require(fixture.store.core.packs?.record(place)?.record)
    #expect(record.answer.isEmpty == isSuperseded)
    #expect((record.row.supersededAt != nil) == isSuperseded)
  }

  @Test(
    "where packs take nothing it gets a file; where that is not to be had either it passes through memory, and is not kept"
  )
  func fullDisk() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let first = try fixture.store("/a", pattern(10))
    let pack = try #require(place(first).packed.flatMap { fixture.store.core.packs?.pack($0.pack) })
    let second = try pack.whileFull { try fixture.store("/b", pattern(5000)) }
    #expect(place(second).isFile)
    #expect(try fixture.readAll(second.body) == pattern(5000))
    let third = try begin(fixture, "/c", total: 5000)
    try third.body.write(pattern(5000))
    TestDirectory.remove(fixture.store.core.folder(of: third.body.id))
    try pack.whileFull { #expect(!third.body.complete()) }
    #expect(third.body.windowBytes(at: 0, limit: 9000) == pattern(5000))
    #expect(try fixture.first("/c") == nil)
    #expect(fixture.store.reservedBytes == 0)
  }

  @Test("a personal one is found by its tag, and is its owner's after a kill")
  func personal() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let body = try fixture.body(total: 10)
    body.addTag(TagRecord(tag: Array("t".utf8)))
    let response = StoredResponse(head: fixture.head(), body: body, storedAt: fixture.clock.wallSeconds())
    fixture.store.publishPrivate(
      response, tag: Array("t".utf8), owner: Array("me".utf8), expires: fixture.clock.wallSeconds() + 1000)
    body.decideWhenPacked { _ in PackedAnswer(settings: 1, from: 0, until: .max, born: 0, flags: 0, head: []) }
    try body.write(pattern(10))
    #expect(body.complete())
    let place = try #require(body.state.withLock { $0.place.packed })
    #expect(fixture.store.core.packs?.record(place)?.record.answer == [])
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    let found: StoredResponse? = try copy.result {
      copy.store.findPrivate(tag: Array("t".utf8), on: copy.loop, $0)
    }
    #expect(found?.personal?.owner == Array("me".utf8))
    #expect(try found.map { try copy.readAll($0.body) } == pattern(10))
  }
}
