import CLinux
import PawlCache
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("What survives a power cut") struct DurabilityTests {
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

  @Test("many bodies are synced by a file that is open: out of descriptors no other could be opened")
  func crowd() throws {
    let fixture = try StoreFixture { $0.memory = 0 }
    let bodies = try (0..<40).map { try fixture.store("/\($0)", pattern(5000)).body }
    let core = fixture.store.core
    let away = core.bodiesDirectory + ".away"
    #expect(rename(core.bodiesDirectory, away) == 0)
    core.durability.syncAll(core)
    fixture.store.flush()
    #expect(rename(away, core.bodiesDirectory) == 0)
    #expect(fixture.logged("body-sync-failed").isEmpty)
    #expect(bodies.allSatisfy { body in body.state.withLock { $0.unsyncedBytes } == 0 })
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
}
