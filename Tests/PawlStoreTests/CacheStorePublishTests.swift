import PawlLoop
import Testing

@testable import PawlStore

@Suite("What is published is found") struct CacheStorePublishTests {
  @Test("the newest first; what it supersedes is current no more, and stays")
  func superseding() throws {
    let fixture = try StoreFixture()
    let old = try fixture.store("/a", pattern(10), tag: "old")
    let new = StoredResponse(head: fixture.head(), body: try fixture.body(total: 0), storedAt: 5)
    fixture.store.publish(new, in: try fixture.resource("/a"), superseding: [old])
    let (current, superseded) = try fixture.resource("/a").withLock { ($0.variants, $0.superseded) }
    #expect(current.map(\.id) == [new.id] && superseded.map(\.id) == [old.id])
    #expect(old.supersededAt == fixture.clock.wallSeconds() && new.supersededAt == nil)
    #expect(old.body.failure == nil)
  }

  @Test("what it replaces goes, bytes and all")
  func replacing() throws {
    let fixture = try StoreFixture()
    let old = try fixture.store("/a", pattern(10))
    let new = StoredResponse(head: fixture.head(), body: try fixture.body(total: 0), storedAt: 5)
    fixture.store.publish(new, in: try fixture.resource("/a"), replacing: [old])
    fixture.store.flush()
    let current = try fixture.resource("/a").withLock { $0.variants + $0.superseded }
    #expect(current.map(\.id) == [new.id])
    #expect(try !fixture.store.core.reader.contains(old.id))
  }

  @Test("a private response is found by its tag alone, until it expires")
  func personal() throws {
    let fixture = try StoreFixture()
    let response = StoredResponse(head: fixture.head(), body: try fixture.body(total: 0), storedAt: 5)
    let now = fixture.clock.wallSeconds()
    fixture.store.publishPrivate(response, tag: [1, 2], owner: [9], expires: now + 10)
    #expect(fixture.store.privateResponse(tag: [1, 2])?.personal == .init(owner: [9], expires: now + 10))
    #expect(fixture.store.privateResponse(tag: [1]) == nil)
    fixture.clock.advance(by: .seconds(10))
    #expect(fixture.store.privateResponse(tag: [1, 2]) == nil)
  }
}
