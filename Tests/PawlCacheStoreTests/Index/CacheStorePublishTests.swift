import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

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

  @Test("a body that failed before leaves no row behind")
  func failedBefore() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body(total: 100)
    try body.write(pattern(50))
    body.fail(.notKept)
    let response = StoredResponse(head: fixture.head(), body: body, storedAt: 5)
    fixture.store.publish(response, in: try fixture.resource("/a"))
    try fixture.settle()
    fixture.store.flush()
    #expect(fixture.store.resource(for: fixture.key("/a"), create: false) == nil)
    #expect(try !fixture.store.core.reader.contains(body.id))
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

  @Test("of others for whom it was proven to be theirs, the latest are remembered; of a shared one nobody")
  func grants() throws {
    let fixture = try StoreFixture()
    let shared = StoredResponse(head: fixture.head(), body: try fixture.body(total: 0), storedAt: 5)
    shared.grant([1], fixture.head())
    #expect(shared.grants == [])
    fixture.store.publishPrivate(shared, tag: [1, 2], owner: [9], expires: fixture.clock.wallSeconds() + 10)
    let kept = try #require(fixture.store.privateResponse(tag: [1, 2]))
    for number in 1...StoredResponse.grantLimit { kept.grant([UInt8(number)], fixture.head()) }
    kept.grant([1], fixture.head())
    #expect(kept.grants.map { $0.owner[0] } == [1] + (2...16).reversed())
    kept.grant([17], fixture.head())
    #expect(kept.grants.map { $0.owner[0] } == [17, 1] + (3...16).reversed())
  }
}
