import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Paths below which all is out of date") struct OutdatedTreesTests {
  private func key(_ target: String) -> CacheKey { CacheKey(authority: Bytes("a.example"), target: Bytes(target)) }

  private func forget(_ fixture: StoreFixture, below target: String) throws {
    var isDone = false
    fixture.store.forgetAll(below: key(target), on: fixture.loop) { isDone = true }
    fixture.loop.turn { !isDone }
  }

  @Test("a key lies below each slash of its path, and at it without one, however it is spelt; below no other host")
  func covers() {
    let trees = OutdatedTrees([key("/a/b/").bytes: 10, key("/caf%C3%A9/").bytes: 10])
    for (target, number, isCovered) in [
      ("/a/b/c", 9, true), ("/a/b/", 9, true), ("/a/b/c/d?x", 9, true), ("/a/b/c", 10, false), ("/a/b", 9, true),
      ("/a/b", 10, false), ("/a/b?x", 9, false), ("/%61/b", 9, true), ("/a%2fb/", 9, false), ("/a/%62/c", 9, true),
      ("/caf%c3%a9/x", 9, true), ("/caf%c3%A9", 9, true), ("/c%61f%C3%A9/", 9, true), ("/caf%C3/", 9, false),
      ("/a/bc", 9, false), ("/a?/b/", 9, false), ("/", 9, false), ("*", 9, false),
    ] as [(String, Int64, Bool)] {
      #expect(trees.covers(key(target).bytes, number: number) == isCovered, "\(target)")
      let both = [key("/a/b/").bytes, key("/caf%C3%A9/").bytes]
      if number < 10 { #expect(OutdatedTrees.isCovered(key(target).bytes, by: both) == isCovered, "\(target)") }
    }
    #expect(!trees.covers(CacheKey(authority: Bytes("b.example"), target: Bytes("/a/b/c")).bytes, number: 9))
  }

  private func reopened(_ fixture: StoreFixture) throws -> StoreFixture {
    try fixture.settle()
    fixture.store.close()
    return try StoreFixture(in: fixture.directory)
  }

  private func count(_ fixture: StoreFixture, _ table: String) throws -> Int64? {
    fixture.store.flush()
    let database = try Database(path: CatalogueFile.path(in: fixture.directory.path + "/cache"), isReader: true)
    return try database.integer("SELECT count(*) FROM \(table)")
  }
  private static let stamps = "meta WHERE typeof(name) = 'blob'"

  @Test("whoever is told that a resource is forgotten finds it gone after a kill, too", arguments: [true, false])
  func invalidatedOnRecord(isLoaded: Bool) throws {
    let first = try StoreFixture()
    try first.store("/a", pattern(100))
    let fixture = isLoaded ? first : try reopened(first)
    var isDone = false
    fixture.store.invalidate(try fixture.resource("/a"), on: fixture.loop) { isDone = true }
    #expect(!isDone)
    fixture.loop.turn { !isDone }
    // What a process that is killed now would leave.
    let database = try Database(path: CatalogueFile.path(in: fixture.directory.path + "/cache"), isReader: true)
    #expect(try database.integer("SELECT count(*) FROM objects") == 0)
  }

  @Test("what has no row in the catalogue is forgotten at once")
  func invalidatedAtOnce() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    try fixture.store("/a", pattern(100))
    try fixture.settle()
    var isDone = false
    fixture.store.invalidate(try #require(try fixture.loaded("/a")), on: fixture.loop) { isDone = true }
    #expect(isDone)
    #expect(try fixture.first("/a") == nil)
  }

  @Test("what is in memory goes at once, what is beside the path stays, what comes later stays")
  func inMemory() throws {
    let fixture = try StoreFixture()
    for target in ["/c/a", "/c/d/b", "/c", "/cc", "/x"] { try fixture.store(target, pattern(100)) }
    let asking = try #require(fixture.store.resource(for: key("/c/asked"), create: true))
    try forget(fixture, below: "/%63/")
    for (target, isThere) in [("/c/a", false), ("/c/d/b", false), ("/c", false), ("/cc", true), ("/x", true)] {
      #expect(try (fixture.first(target) != nil) == isThere, "\(target)")
    }
    #expect(asking.withLock { $0.invalidations } == 1)
    try fixture.store("/c/a", pattern(50))
    let again = try reopened(fixture)
    #expect(try again.first("/c/a") != nil && again.first("/c/d/b") == nil && again.first("/x") != nil)
  }

  @Test("what is on disk alone is not found again, over restarts too; what is stored afterwards is")
  func onDisk() throws {
    let first = try StoreFixture()
    for target in ["/%e9/a", "/%E9/b", "/%e9", "/x"] { try first.store(target, pattern(100)) }
    let second = try reopened(first)
    try forget(second, below: "/%E9/")
    #expect(try second.first("/%e9/a") == nil && second.first("/x") != nil)
    #expect(try count(second, "objects") == 3 && count(second, Self.stamps) == 1)
    let third = try reopened(second)
    #expect(try third.first("/%E9/b") == nil && third.first("/%e9") == nil && count(third, "objects") == 1)
    try third.store("/%E9/b", pattern(70))
    let fourth = try reopened(third)
    #expect(try fourth.first("/%E9/b") != nil && count(fourth, "objects") == 2)
  }

  @Test("a path that was recorded as it came counts for every spelling")
  func recordedBefore() throws {
    let first = try StoreFixture()
    try first.store("/%E9/a", pattern(100))
    try first.settle()
    first.store.close()
    do {
      let database = try Database(path: CatalogueFile.path(in: first.directory.path + "/cache"), isReader: false)
      try OutdatedRows.record(key("/%e9/").bytes, 1000, in: database)
      try OutdatedRows.record(key("/%E9/").bytes, 1, in: database)
    }
    #expect(try StoreFixture(in: first.directory).first("/%E9/a") == nil)
  }

  @Test("a path that nothing older is left for is forgotten at the next start")
  func needless() throws {
    let first = try StoreFixture()
    try first.store("/c/a", pattern(100))
    try forget(first, below: "/c/")
    try first.store("/c/a", pattern(100))
    #expect(try count(first, Self.stamps) == 1)
    let second = try reopened(first)
    #expect(try count(second, Self.stamps) == 0 && second.first("/c/a") != nil)
  }

  @Test("beyond the limit the oldest paths are settled: their objects are removed, and the paths forgotten")
  func limit() throws {
    let first = try StoreFixture()
    for target in ["/0/a", "/\(OutdatedTrees.limit)/a", "/x"] { try first.store(target, pattern(100)) }
    let fixture = try reopened(first)
    for number in 0..<OutdatedTrees.limit { try forget(fixture, below: "/\(number)/") }
    try fixture.settle()
    #expect(try count(fixture, Self.stamps) == Int64(OutdatedTrees.limit) && count(fixture, "objects") == 3)
    try forget(fixture, below: "/\(OutdatedTrees.limit)/")
    try fixture.settle()
    #expect(try count(fixture, Self.stamps) == Int64(OutdatedTrees.limit / 2 + 1) && count(fixture, "objects") == 2)
    #expect(try fixture.first("/\(OutdatedTrees.limit)/a") == nil && fixture.first("/x") != nil)
  }
}
