import PawlDisk
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Limits of an open cache") struct CacheLimitsTests {
  private func settings(_ fixture: StoreFixture, _ change: (inout CacheStoreSettings) -> Void) -> CacheStoreSettings {
    var settings = fixture.store.core.settings
    change(&settings)
    return settings
  }

  @Test("change at once; what is too much is evicted in steps")
  func shrinks() throws {
    let fixture = try StoreFixture { ($0.maxSize, $0.memory) = (64 << 20, 0) }
    for index in 0..<40 {
      try fixture.store("/\(index)", pattern(1 << 20))
      fixture.clock.advance(by: .seconds(1))
    }
    fixture.store.core.durability.syncAll(fixture.store.core)
    fixture.store.change(to: settings(fixture) { $0.maxSize = 8 << 20 })
    #expect(fixture.store.limitsInUse.maxSize == 8 << 20)
    for _ in 0..<8 { try fixture.settle() }
    #expect(fixture.store.maxSize == 8 << 20 && fixture.store.usedBytes <= 8 << 20)
    #expect(try fixture.first("/39") != nil)
    fixture.store.change(to: settings(fixture) { ($0.maxSize, $0.minFree) = (32 << 20, 9 << 20) })
    #expect(fixture.store.maxSize == 32 << 20 && fixture.store.core.budget.minFree == 9 << 20)
  }

  @Test("a size that is not configured is that of the first start, or 80 % of what is free now")
  func usualSize() throws {
    let directory = TestDirectory()
    let first = try StoreFixture(in: directory) { $0.maxSize = 64 << 20 }
    first.store.change(to: settings(first) { $0.maxSize = nil })
    let size = first.store.maxSize
    #expect(size > 64 << 20)
    first.store.change(to: settings(first) { $0.maxSize = 65 << 20 })
    first.store.change(to: settings(first) { $0.maxSize = nil })
    #expect(first.store.maxSize == size)
    first.store.close()
    #expect(try StoreFixture(in: directory) { $0.maxSize = nil }.store.maxSize == size)
  }

  @Test("of memory hold for bodies that are there, and packs are written from then on")
  func memory() throws {
    let fixture = try StoreFixture { ($0.memory, $0.memoryObject) = (1 << 20, 1 << 10) }
    #expect(fixture.store.core.packs?.isWriting == false)
    fixture.store.change(
      to: settings(fixture) { ($0.memory, $0.memoryObject, $0.packedObject) = (2 << 20, 9 << 10, 64 << 10) })
    try fixture.settle()
    #expect(fixture.store.core.memory.limit == 2 << 20 && fixture.store.core.memoryObject == 9 << 10)
    #expect(fixture.store.core.packs?.contentLimit == 64 << 10)
    let packSize = fixture.store.core.packs?.packSize
    fixture.store.change(to: settings(fixture) { ($0.maxSize, $0.packedObject) = (128 << 20, 1 << 20) })
    #expect(fixture.store.core.packs?.packSize == 2 << 20 && packSize == 16 << 20)
    #expect(fixture.store.core.packs?.contentLimit == (2 << 20) / 8)
  }
}
