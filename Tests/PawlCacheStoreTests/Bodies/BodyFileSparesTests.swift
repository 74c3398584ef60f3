import CLinux
import PawlDisk
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Files for bodies to come") struct BodyFileSparesTests {
  private func files(_ directory: TestDirectory) -> [String] {
    TestDirectory.entries(directory.path + "/cache/bodies").flatMap(TestDirectory.entries)
  }

  /// `nil` where the pool has to make it.
  private func bodyAtOnce(_ fixture: StoreFixture, total: UInt64 = 100) -> StoredBody? {
    fixture.store.core.makeBodyAtOnce(expected: nil, total: total)
  }

  @Test("a body gets its file, its name and its room without waiting for the disk")
  func atOnce() throws {
    let fixture = try StoreFixture()
    try fixture.settle()
    let used = fixture.store.usedBytes
    var made: StoredBody?
    fixture.store.createBody(expected: nil, total: 100, on: fixture.loop) { made = $0 }
    let body = try #require(made)
    #expect(fixture.store.reservedBytes == 100)
    #expect(fixture.store.usedBytes == used + DiskBudget.objectOverhead)
    try body.write(pattern(100))
    #expect(try TestDirectory.contents(fixture.path(of: body)) == pattern(100))
  }

  @Test("as many wait as the limit says, and when half of them are used more come")
  func limit() throws {
    let fixture = try StoreFixture()
    try fixture.settle()
    let (limit, spares) = (BodyFileSpares.limit, fixture.store.core.spares)
    #expect(limit == 16 && spares.count == limit && files(fixture.directory).count == limit)
    var bodies = (0..<limit / 2 - 1).compactMap { _ in bodyAtOnce(fixture) }
    try fixture.settle()
    #expect(bodies.count == limit / 2 - 1 && spares.count == limit / 2 + 1)
    bodies += [try #require(bodyAtOnce(fixture))]
    try fixture.settle()
    #expect(spares.count == limit)
    #expect(Set(bodies.map(\.id)).count == limit / 2)
  }

  @Test("who comes when none is left gets a file from the pool")
  func noneLeft() throws {
    let fixture = try StoreFixture()
    try fixture.settle()
    let spares = fixture.store.core.spares
    while let spare = spares.take().spare { close(spare.descriptor) }
    #expect(bodyAtOnce(fixture) == nil)
    let body = try fixture.body(total: 100)
    try body.write(pattern(100))
    #expect(try TestDirectory.contents(fixture.path(of: body)) == pattern(100))
  }

  @Test("where something has to be evicted, or another body closed, nothing is made at once, and the spare waits on")
  func notAtOnce() throws {
    let full = try StoreFixture { $0.maxSize = 1 << 20 }
    try full.settle()
    try full.store("/a", pattern(600_000))
    try full.settle()
    let count = full.store.core.spares.count
    #expect(bodyAtOnce(full, total: 600_000) == nil)
    #expect(full.store.core.spares.count == count && full.store.reservedBytes == 0)
    #expect(try full.body(total: 600_000).total == 600_000)
    let crowded = try StoreFixture { $0.openBodies = 1 }
    try crowded.settle()
    let first = try #require(bodyAtOnce(crowded))
    #expect(bodyAtOnce(crowded) == nil)
    withExtendedLifetime(first) {}
  }

  @Test("nothing stays of them at an orderly end, and what a killed process leaves goes without a word")
  func ends() throws {
    let fixture = try StoreFixture()
    try fixture.settle()
    let copy = try fixture.directory.copy()
    let left = files(copy)
    #expect(left.count == BodyFileSpares.limit)
    let after = try StoreFixture(in: copy)
    try after.settle()
    #expect(Set(files(copy)).isDisjoint(with: left))
    #expect(after.logged("body-dropped") == [])
    fixture.store.close()
    #expect(files(fixture.directory) == [])
  }
}
