import PawlDisk
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("The ways out of the cache") struct RemovalTests {
  @Test("an evicted object leaves index, catalogue, disk and budget at once")
  func evicted() throws {
    let fixture = try StoreFixture()
    let response = try fixture.store("/a", pattern(100_000))
    fixture.store.core.durability.syncAll(fixture.store.core)
    fixture.store.flush()
    let core = fixture.store.core
    let candidate = try #require(try core.reader.candidates(now: 0, limit: 1).first)
    #expect(candidate.id == response.id)
    let used = fixture.store.usedBytes
    #expect(core.evict(candidate))
    #expect(!core.evict(candidate), "once only")
    fixture.store.flush()
    #expect(fixture.store.usedBytes < used - 99_999)
    #expect(!Files.exists(fixture.path(of: response.body)))
    #expect(try fixture.first("/a") == nil && !core.reader.contains(response.id))
  }

  @Test("an object that is read is not evicted")
  func busy() throws {
    let fixture = try StoreFixture()
    let response = try fixture.store("/a", pattern(1000))
    fixture.store.core.durability.syncAll(fixture.store.core)
    fixture.store.flush()
    let candidate = try #require(try fixture.store.core.reader.candidates(now: 0, limit: 1).first)
    response.body.readerMoved(token: ObjectIdentifier(fixture), position: 0)
    #expect(!fixture.store.core.evict(candidate))
    response.body.readerLeft(token: ObjectIdentifier(fixture))
    #expect(fixture.store.core.evict(candidate))
  }
}
