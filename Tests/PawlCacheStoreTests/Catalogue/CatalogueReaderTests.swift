import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Looking rows up") struct CatalogueReaderTests {
  @Test("segments are recorded as they grow, and a longer one takes the shorter one's place")
  func growingSegments() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body(total: 3 << 20)
    fixture.store.publish(
      StoredResponse(head: fixture.head(), body: body, storedAt: 0), in: try fixture.resource("/a"))
    let bytes = pattern(3 << 20)
    let reader = fixture.store.core.reader
    let hash = fixture.store.core.index.hash(of: fixture.key("/a"))
    var position = 0
    for end in [100, 70_000, (1 << 20) - 1, 1 << 20, (1 << 20) + 5, (2 << 20) + 5] {
      try body.write(Array(bytes[position..<end]), at: UInt64(position))
      position = end
      fixture.store.flush()
      let object = try #require(try reader.objects(keyHash: hash).first)
      #expect(object.row.held == UInt64(end))
      #expect(HeldBytes(object.segments.map(\.range)) == HeldBytes([0..<UInt64(end)]))
      #expect(object.segments.allSatisfy { $0.length <= SegmentTable.span })
      for segment in object.segments {
        let digest = bytes[Int(segment.offset)..<Int(segment.end)].withUnsafeBytes { SegmentDigest.of($0) }
        #expect(segment.digest == digest)
      }
    }
  }

  @Test("finds objects by id, by folder and by key, and nothing that is gone")
  func lookUps() throws {
    let fixture = try StoreFixture()
    let responses = try ["/a", "/b", "/c"].map { try fixture.store($0, pattern(10)) }
    let reader = fixture.store.core.reader
    for (response, target) in zip(responses, ["/a", "/b", "/c"]) {
      #expect(try reader.contains(response.id))
      let objects = try reader.objects(keyHash: fixture.store.core.index.hash(of: fixture.key(target)))
      #expect(objects.map(\.row.id) == [response.id] && objects.map(\.row.key) == [fixture.key(target).bytes])
    }
    var seen: [ObjectID] = []
    for byte in 0...UInt8.max { seen += try reader.identities(firstByte: byte).map(\.id) }
    #expect(Set(seen) == Set(responses.map(\.id)) && seen.count == 3)
    fixture.store.forget(responses[1])
    fixture.store.flush()
    #expect(try !reader.contains(responses[1].id))
    #expect(try reader.objects(keyHash: fixture.store.core.index.hash(of: fixture.key("/b"))).isEmpty)
  }

  @Test("names those first that are worth least: replaced, then incomplete, then complete")
  func candidates() throws {
    let fixture = try StoreFixture()
    let complete = try fixture.store("/a", pattern(10))
    fixture.store.core.durability.syncAll(fixture.store.core)
    fixture.store.flush()
    let partial = try fixture.store("/b", pattern(10), total: 20)
    let old = try fixture.store("/c", pattern(10))
    let new = StoredResponse(head: fixture.head(), body: try fixture.body(total: 0), storedAt: 0)
    fixture.store.publish(new, in: try fixture.resource("/c"), superseding: [old])
    fixture.store.flush()
    let found = try fixture.store.core.reader.candidates(now: fixture.clock.wallSeconds(), limit: 10).map(\.id)
    #expect(found.first == old.id)
    let place = [partial.id, complete.id].map { id in found.firstIndex(of: id) ?? -1 }
    #expect(place[0] > 0 && place[1] > place[0])
    let one = try fixture.store.core.reader.candidates(now: fixture.clock.wallSeconds(), limit: 1)
    #expect(one.first?.id == old.id && one.count <= 4)
  }
}
