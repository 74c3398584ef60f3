import CLinux
import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve
import Testing

@testable import PawlStore

@Suite("Catalogue") struct CatalogueTests {
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

  @Test("complete is recorded only once everything was synced")
  func completeAfterSync() throws {
    let fixture = try StoreFixture()
    let response = try fixture.store("/a", pattern(3_000_000))
    fixture.store.core.durability.syncAll(fixture.store.core)
    fixture.store.flush()
    let hash = fixture.store.core.index.hash(of: fixture.key("/a"))
    let object = try #require(try fixture.store.core.reader.objects(keyHash: hash).first)
    #expect(object.row.isComplete && object.row.total == 3_000_000 && object.row.held == 3_000_000)
    #expect(object.segments.allSatisfy { $0.sequence <= object.row.synced })
    #expect(response.body.state.withLock { $0.unsyncedBytes } == 0)
  }

  @Test("after a failed sync nothing since the last one is trusted without its digest")
  func failedSync() throws {
    let fixture = try StoreFixture()
    let response = try fixture.store("/a", pattern(2_500_000), total: 4_000_000)
    let body = response.body
    body.syncFailed(.system(call: "fdatasync", path: "body", errno: EIO))
    #expect(body.availability(at: 0) == .checking)
    #expect(try fixture.readAll(body) == pattern(2_500_000))
    #expect(fixture.logged("body-sync-failed").count == 1)
  }

  @Test("changes that could not be recorded are kept and recorded later")
  func retries() throws {
    let fixture = try StoreFixture()
    let path = fixture.directory.path + "/cache/catalogue.sqlite"
    let other = try Database(path: path, isReader: false)
    // Another writer holds the file for longer than SQLite waits: as a full disk, an error that passes.
    try other.execute("BEGIN IMMEDIATE")
    fixture.store.core.submit([.meta("probe", 5)])
    fixture.store.flush()
    #expect(fixture.logged("catalogue-failed").count == 1)
    try other.execute("COMMIT")
    fixture.store.flush()
    #expect(try CatalogueSchema.meta(other, "probe") == 5)
  }

  @Test("a closed catalogue takes nothing and keeps nobody waiting")
  func closed() throws {
    let fixture = try StoreFixture()
    let catalogue = try #require(fixture.store.core.catalogue)
    fixture.store.close()
    #expect(!catalogue.barrier())
  }

  @Test("tags are recorded in their order with their limits")
  func tags() throws {
    let directory = TestDirectory()
    do {
      let fixture = try StoreFixture(in: directory)
      let body = try fixture.store("/a", pattern(10), tag: "first").body
      body.addTag(TagRecord(tag: [0xff, 0x00], limit: 7))
      body.addTag(TagRecord(tag: Array("third".utf8), limit: 0))
    }
    let fixture = try StoreFixture(in: directory)
    let body = try #require(try fixture.first("/a")).body
    #expect(
      body.tags == [
        TagRecord(tag: Array("first".utf8)), TagRecord(tag: [0xff, 0x00], limit: 7),
        TagRecord(tag: Array("third".utf8), limit: 0),
      ])
    #expect(body.tagLimit([0xff, 0x00]) == 7)
    #expect(body.tagLimit([0xff]) == nil)
  }
}
