import PawlCache
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Two parts of one body") struct ReunionTests {
  private func stored(_ fixture: StoreFixture, _ bytes: [UInt8], _ tag: String, of total: UInt64 = 5000) throws
    -> StoredResponse
  {
    let resource = try fixture.resource("/a")
    let old = resource.withLock { $0.variants.first }
    let response = try fixture.store("/a", bytes, total: total, tag: "pawl-" + tag)
    if let old { fixture.store.publish(response, in: resource, superseding: [old]) }
    fixture.store.flush()
    return response
  }

  private func names(_ body: StoredBody) -> [String] { body.tags.map { String(decoding: $0.tag, as: UTF8.self) } }

  @Test("the shorter newer one was broken off: the longer one is current, with both tags")
  func longerOld() throws {
    let fixture = try StoreFixture()
    let content = pattern(5000)
    let old = try stored(fixture, Array(content[..<3000]), "a")
    let new = try stored(fixture, Array(content[..<1000]), "b")
    let left = Reunion(core: fixture.store.core).join([new, old])
    #expect(left.map(\.id) == [old.id] && left[0].supersededAt == nil)
    #expect(names(old.body) == ["pawl-a", "pawl-b"] && old.body.tagLimit(Array("pawl-b".utf8)) == .max)
  }

  @Test("the newer one has as much: it stays, with both tags")
  func longerNew() throws {
    let fixture = try StoreFixture()
    let content = pattern(5000)
    let old = try stored(fixture, Array(content[..<1000]), "a")
    let new = try stored(fixture, Array(content[..<3000]), "b")
    #expect(Reunion(core: fixture.store.core).join([new, old]).map(\.id) == [new.id])
    #expect(names(new.body) == ["pawl-b", "pawl-a"])
  }

  @Test("what differs in one byte, or in length, is not one body")
  func different() throws {
    let fixture = try StoreFixture()
    let content = pattern(5000)
    var changed = content
    changed[500] ^= 1
    let old = try stored(fixture, Array(content[..<3000]), "a")
    let new = try stored(fixture, Array(changed[..<1000]), "b")
    #expect(Reunion(core: fixture.store.core).join([new, old]).map(\.id) == [new.id, old.id])
    let longer = try stored(fixture, Array(content[..<1000]), "c", of: 5001)
    #expect(Reunion(core: fixture.store.core).join([longer, old]).count == 2)
  }

  @Test("in a running store the old one takes its place again")
  func reinstated() throws {
    let fixture = try StoreFixture()
    let content = pattern(5000)
    let old = try stored(fixture, Array(content[..<3000]), "a")
    let new = try stored(fixture, Array(content[..<1000]), "b")
    fixture.store.reinstate(old, insteadOf: new, upTo: 1000)
    fixture.store.flush()
    let (current, superseded) = try fixture.resource("/a").withLock { (Array($0.variants), $0.superseded) }
    #expect(current.map(\.id) == [old.id] && superseded.isEmpty && current[0].supersededAt == nil)
    #expect(names(old.body) == ["pawl-a", "pawl-b"])
  }
}
