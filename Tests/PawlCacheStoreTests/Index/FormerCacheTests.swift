import PawlLoop
import PawlObserve
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("A cache of former settings") struct FormerCacheTests {
  @Test("a cache that nobody has any more is not kept")
  func former() throws {
    let directory = TestDirectory()
    let (pool, events) = (WorkerPool(threads: 1), EventLog { _ in })
    var store: CacheStore? = try CacheStore(
      CacheStoreSettings(name: "a", path: directory.path + "/cache"), pool: pool, events: events)
    let former = FormerCache(try #require(store))
    #expect(former.store?.lives(at: directory.path + "/cache") == true)
    store = nil
    #expect(former.store == nil)
    pool.stop()
  }
}
