import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("After an unclean end") struct CacheStoreLoadTests {
  private static let tag = Array("t".utf8)

  /// Half of a body is recorded; the process is killed, and what `change` does happens to its files.
  private func killed(
    _ fields: [(FieldName, String)] = [], total: UInt64 = 4_000_000,
    change: (_ path: String, _ database: Database) throws -> Void = { _, _ in }
  ) throws -> StoreFixture {
    let fixture = try StoreFixture()
    let response = try fixture.store("/a", pattern(2_500_000), total: total, fields: fields)
    let copy = try fixture.directory.copy()
    let path = copy.path + fixture.path(of: response.body).dropFirst(fixture.directory.path.count)
    let database = try Database(path: copy.path + "/cache/catalogue.sqlite", isReader: false)
    // By a power cut: its file system is mounted anew.
    try CatalogueSchema.setMeta(database, "mount", 0)
    try change(path, database)
    return try StoreFixture(in: copy)
  }

  @Test(
    "a tag of pawl's own covers the verified prefix of an incomplete body",
    arguments: [
      ([], 2_500_000 as UInt64),
      ([(FieldName.etag, "W/\"w\"")], 2_500_000),
      ([(.lastModified, "Sun, 06 Nov 1994 08:49:37 GMT")], 2_500_000),
      ([(.lastModified, "Sun, 06 Nov 1994 08:49:37 GMT"), (.date, "Sun, 06 Nov 1994 08:50:36 GMT")], 2_500_000),
      ([(.lastModified, "Sun, 06 Nov 1994 08:49:37 GMT"), (.date, "Sun, 06 Nov 1994 08:50:37 GMT")], .max),
      ([(.etag, "\"s\"")], .max),
    ] as [([(FieldName, String)], UInt64)])
  func tags(_ fields: [(FieldName, String)], _ limit: UInt64) throws {
    let fixture = try killed(fields)
    let body = try #require(try fixture.first("/a")).body
    #expect(body.tagLimit(Self.tag) == limit)
    // And stays so over a clean end.
    fixture.store.close()
    let again = try StoreFixture(in: fixture.directory)
    #expect(try #require(try again.first("/a")).body.tagLimit(Self.tag) == limit)
  }

  @Test("the limit is set at the first use, even one clean start later")
  func lateUse() throws {
    let fixture = try killed()
    fixture.store.close()
    let again = try StoreFixture(in: fixture.directory)
    #expect(try #require(try again.first("/a")).body.tagLimit(Self.tag) == 2_500_000)
  }

  @Test("what was recorded but never reached the disk is found out at load")
  func lostTail() throws {
    let fixture = try killed { path, _ in
      let descriptor = try Files.open(path, O_RDWR)
      defer { close(descriptor) }
      // As a power cut leaves it: the size is there, the bytes are not.
      #expect(pawl_punch_hole(descriptor, 2_097_152, 402_848) == 0)
    }
    let body = try #require(try fixture.first("/a")).body
    #expect(body.held == HeldBytes([0..<2_097_152]))
    // By its digest it is known again when it comes.
    #expect(body.tagLimit(Self.tag) == 2_500_000)
    #expect(fixture.logged("body-damaged").count == 1)
    #expect(try fixture.readAll(body) == Array(pattern(2_500_000)[..<2_097_152]))
  }

  @Test("what was synced is not read at load, and still checked at first use")
  func syncedIsTrustedLater() throws {
    let fixture = try killed { path, database in
      try database.execute("UPDATE objects SET synced = 1000000")
      let descriptor = try Files.open(path, O_RDWR)
      defer { close(descriptor) }
      #expect(pawl_punch_hole(descriptor, 1_048_576, 1_048_576) == 0)
    }
    let body = try #require(try fixture.first("/a")).body
    #expect(fixture.logged("body-damaged").isEmpty)
    #expect(try fixture.readAll(body) == pattern(1_048_576))
    #expect(fixture.logged("body-damaged").count == 1)
    #expect(body.tagLimit(Self.tag) == 2_500_000)
  }

  @Test("a body that had all its bytes is complete, its tag whole")
  func wholeAfterAll() throws {
    let fixture = try killed(total: 2_500_000) { _, database in
      try database.execute("UPDATE objects SET complete = 0, suspect = 1, synced = 0")
    }
    let body = try #require(try fixture.first("/a")).body
    #expect(body.isComplete)
    #expect(body.tagLimit(Self.tag) == .max)
    fixture.store.close()
    let database = try Database(path: fixture.directory.path + "/cache/catalogue.sqlite", isReader: false)
    #expect(try database.integer("SELECT complete FROM objects") == 1)
  }

  @Test("a second load and one at the same time see the same responses")
  func loadsOnce() throws {
    let fixture = try killed()
    let resource = try #require(fixture.store.resource(for: fixture.key("/a"), create: false))
    let seen: [StoredResponse] = try fixture.result { done in
      var seen: [StoredResponse] = []
      for _ in 0..<5 {
        fixture.store.load(resource, on: fixture.loop) {
          seen += resource.withLock { $0.variants }
          if seen.count == 5 { done(seen) }
        }
      }
    }
    #expect(seen.allSatisfy { $0 === seen[0] })
    #expect(try fixture.first("/a") === seen[0])
  }

  @Test("a key that only shares the hash is another resource")
  func foreignKey() throws {
    let fixture = try killed { _, database in
      try database.execute("UPDATE objects SET key = CAST('b.example' || char(0) || '/b' AS BLOB)")
    }
    #expect(try fixture.first("/a") == nil)
  }

  @Test("resources nobody uses leave memory and come back from the catalogue")
  func unloads() throws {
    let fixture = try StoreFixture()
    for index in 0..<20 { try fixture.store("/\(index)", pattern(5000, seed: UInt64(index))) }
    let held = try #require(try fixture.first("/7"))
    fixture.store.core.durability.syncAll(fixture.store.core)
    try fixture.settle()
    let index = fixture.store.core.index
    index.unload(beyond: 4, responses: 0, now: fixture.clock.wallSeconds())
    #expect(try fixture.first("/7") === held)
    fixture.clock.advanceWall(bySeconds: 10)
    index.unload(beyond: 4, responses: 0, now: fixture.clock.wallSeconds())
    index.unload(beyond: 0, responses: 0, now: fixture.clock.wallSeconds())
    #expect(fixture.store.statistics.resources == 20)
    for index in 0..<20 {
      let response = try #require(try fixture.first("/\(index)"))
      #expect(try fixture.readAll(response.body) == pattern(5000, seed: UInt64(index)))
    }
    // The one somebody still had is the same body, under a new response.
    let again = try #require(try fixture.first("/7"))
    #expect(again !== held && again.body === held.body)
    #expect(fixture.store.usedBytes == 20 * (5000 + DiskBudget.objectOverhead))
  }
}
