import CLinux
import PawlBase
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

private final class Token {}

@Suite("Disk budget and eviction") struct EvictorTests {
  @Test("reserves up to max-size and not one byte more")
  func budgetLimit() {
    let budget = DiskBudget(maxSize: 100, minFree: 0)
    #expect(budget.reserve(60))
    #expect(!budget.reserve(41))
    #expect(budget.reserve(40))
    budget.convert(100)
    #expect(budget.used == 100 && budget.reserved == 0)
    #expect(!budget.reserve(1))
    #expect(budget.shortfall(1) == 1)
    #expect(budget.shortfall(101) == nil)
    budget.uncharge(1)
    #expect(budget.reserve(1))
  }

  @Test("leaves min-free, counting what it promised since it last looked")
  func freeLimit() {
    let budget = DiskBudget(maxSize: 1 << 40, minFree: 1000)
    budget.noteFree(1500)
    #expect(budget.reserve(500))
    #expect(!budget.reserve(1))
    budget.release(100)
    #expect(budget.reserve(100))
    budget.convert(500)
    budget.noteFree(1000)
    #expect(!budget.reserve(1))
    #expect(budget.shortfall(1) == 1)
  }

  @Test("what was written without a promise counts until the file system is asked again")
  func written() {
    let budget = DiskBudget(maxSize: 1 << 40, minFree: 1000)
    budget.noteFree(1500)
    budget.chargeWritten(400)
    #expect(budget.used == 400)
    #expect(budget.shortfall(101) == 1)
    #expect(budget.reserve(100) && !budget.reserve(1))
    budget.noteFree(1500)
    #expect(budget.reserve(400) && !budget.reserve(1))
  }

  @Test("bodies leave the catalogue some room on a disk of which nothing is to be kept free")
  func leastFree() throws {
    #expect(try StoreFixture { $0.minFree = 0 }.store.core.budget.minFree == CacheStore.leastFree)
    #expect(
      try StoreFixture { $0.minFree = CacheStore.leastFree + 1 }.store.core.budget.minFree == CacheStore.leastFree + 1)
  }

  @Test("what leaves the disk is room at once, before the file system is asked again")
  func freed() {
    let budget = DiskBudget(maxSize: 1 << 40, minFree: 1000)
    budget.charge(5000)
    budget.noteFree(900)
    #expect(budget.shortfall(400) == 500)
    budget.uncharge(500)
    #expect(budget.shortfall(400) == 0)
    #expect(budget.reserve(400))
    #expect(!budget.reserve(1))
  }

  @Test("a burst of reservations never passes max-size")
  func burst() throws {
    let maxSize: UInt64 = 20 << 20
    let fixture = try StoreFixture { $0.maxSize = maxSize }
    let made = Locked([StoredBody?]())
    for _ in 0..<100 {
      fixture.store.createBody(expected: nil, total: 1 << 20, on: fixture.loop) { body in
        made.withLock { $0.append(body) }
      }
    }
    var peak: UInt64 = 0
    fixture.loop.turn {
      peak = max(peak, fixture.store.usedBytes + fixture.store.reservedBytes)
      return made.withLock { $0.count } < 100
    }
    let count = made.withLock { $0.compactMap { $0 }.count }
    #expect(count == 19)
    #expect(peak <= maxSize)
  }

  @Test("makes room under concurrent reservations: superseded first, readers' bodies never")
  func evicts() throws {
    let maxSize: UInt64 = 10 << 20
    let fixture = try StoreFixture { ($0.maxSize, $0.memory) = (maxSize, 0) }
    let read = try fixture.store("/read", pattern(1 << 20))
    let token = Token()
    read.body.readerMoved(token: ObjectIdentifier(token), position: 0)
    for index in 0..<7 {
      try fixture.store("/\(index)", pattern(1 << 20))
      fixture.clock.advance(by: .seconds(60))
    }
    let old = try #require(try fixture.first("/6"))
    let body = try fixture.body(total: 10)
    fixture.store.publish(
      StoredResponse(head: fixture.head(), body: body, storedAt: 0), in: try fixture.resource("/6"), superseding: [old])
    try body.write(pattern(10))
    body.complete()
    fixture.store.flush()
    try fixture.settle()
    #expect(try fixture.body(total: 2 << 20).total == 2 << 20)
    try fixture.settle()
    #expect(fixture.logged("body-evicted").first?.contains("kind=superseded") == true)
    // What is being synced would stay.
    fixture.store.core.durability.syncAll(fixture.store.core)
    let made = Locked([StoredBody?]())
    for _ in 0..<12 {
      fixture.store.createBody(expected: nil, total: 1 << 20, on: fixture.loop) { body in
        made.withLock { $0.append(body) }
      }
    }
    var peak: UInt64 = 0
    fixture.loop.turn {
      peak = max(peak, fixture.store.usedBytes + fixture.store.reservedBytes)
      return made.withLock { $0.count } < 12
    }
    #expect(made.withLock { $0.compactMap { $0 }.count } == 8)
    #expect(peak <= maxSize)
    #expect(try fixture.readAll(read.body) == pattern(1 << 20))
    #expect(try fixture.first("/read") === read)
    #expect(fixture.store.resource(for: fixture.key("/0"), create: false) == nil)
  }

  @Test("a body that became complete since the last sync does not go before what is older")
  func newest() throws {
    let fixture = try StoreFixture { ($0.maxSize, $0.memory) = (6 << 20, 0) }
    for index in 0..<4 {
      try fixture.store("/\(index)", pattern(1 << 20))
      fixture.clock.advance(by: .seconds(60))
    }
    fixture.store.core.durability.syncAll(fixture.store.core)
    let partial = try fixture.store("/partial", pattern(1 << 19), total: 1 << 20)
    let newest = try fixture.store("/newest", pattern(1 << 20))
    fixture.store.flush()
    _ = try fixture.body(total: 1 << 20)
    _ = try fixture.body(total: 1 << 20)
    try fixture.settle()
    #expect(try fixture.first("/newest") === newest)
    #expect(partial.body.state.withLock { $0.isDoomed }, "what is not whole goes first, as before")
    #expect(try fixture.first("/0") == nil)
    #expect(try fixture.first("/3") != nil)
  }

  @Test("what is complete and not synced goes where nothing else is left")
  func onlyNewest() throws {
    let fixture = try StoreFixture { ($0.maxSize, $0.memory) = (3 << 20, 0) }
    try fixture.store("/0", pattern(1 << 20))
    try fixture.store("/1", pattern(1 << 20))
    fixture.store.flush()
    #expect(try fixture.body(total: 2 << 20).total == 2 << 20)
    try fixture.settle()
    #expect(fixture.store.statistics.evictions == 2)
  }

  @Test("what was not used since the start is evicted, too, and its mark in the index goes")
  func evictsUnloaded() throws {
    let directory = TestDirectory()
    do {
      let fixture = try StoreFixture(in: directory)
      for index in 0..<5 {
        try fixture.store("/\(index)", pattern(1 << 20))
        fixture.clock.advance(by: .seconds(1))
      }
    }
    let fixture = try StoreFixture(in: directory) { $0.maxSize = 6 << 20 }
    try fixture.settle()
    #expect(fixture.store.statistics.resources == 5)
    let body = try fixture.body(total: 3 << 20)
    try fixture.settle()
    #expect(body.total == 3 << 20)
    #expect(fixture.store.statistics.resources == 2)
    #expect(fixture.store.statistics.evictions == 3)
    #expect(fixture.store.usedBytes == 2 * ((1 << 20) + DiskBudget.objectOverhead) + DiskBudget.objectOverhead)
    #expect(try fixture.first("/0") == nil)
    #expect(try fixture.readAll(#require(try fixture.first("/4")).body) == pattern(1 << 20))
  }

  @Test("more than the cache can ever hold is refused without evicting anything")
  func tooLarge() throws {
    let fixture = try StoreFixture { $0.maxSize = 4 << 20 }
    try fixture.store("/a", pattern(1 << 20))
    let body: StoredBody? = try fixture.result { done in
      fixture.store.createBody(expected: nil, total: 4 << 20, on: fixture.loop) { done($0) }
    }
    #expect(body == nil)
    #expect(try fixture.first("/a") != nil)
  }

  @Test("a body of unknown length reserves in steps and stops at the budget's end")
  func unknownLength() throws {
    let fixture = try StoreFixture { $0.maxSize = 100 << 20 }
    let body = try fixture.body()
    #expect(fixture.store.reservedBytes == 64 << 20)
    let piece = pattern(1 << 20)
    var written: UInt64 = 0
    #expect(throws: StoreError.full) {
      while written < 200 << 20 {
        try body.write(piece, at: written)
        written += 1 << 20
      }
    }
    #expect(written >= 64 << 20 && written < 100 << 20)
    #expect(fixture.store.usedBytes + fixture.store.reservedBytes <= 100 << 20)
    #expect(body.held.prefix == written)
  }

  @Test("a full disk is the writer's error, not the readers'", .enabled(if: geteuid() == 0))
  func fullDisk() throws {
    let mountPoint = TestDirectory()
    try #require(system("mount -t tmpfs -o size=24m tmpfs \(mountPoint.path)") == 0)
    defer { system("umount -l \(mountPoint.path)") }
    let directory = TestDirectory(under: mountPoint.path)
    let fixture = try StoreFixture(in: directory)
    let body = try fixture.body(expected: 1 << 20, total: 64 << 20)
    fixture.store.publish(
      StoredResponse(head: fixture.head(), body: body, storedAt: 0), in: try fixture.resource("/a"))
    let bytes = pattern(1 << 20)
    var written: UInt64 = 0
    #expect(throws: StoreError.full) {
      while written < 32 << 20 {
        try body.write(bytes, at: written)
        written += 1 << 20
      }
    }
    #expect(written <= (24 << 20) - CacheStore.leastFree)
    #expect(try fixture.readAll(body).count == Int(body.held.prefix))
    body.beginStreaming()
    try body.write(bytes, at: body.held.prefix)
    #expect(body.windowBytes(at: body.held.prefix, limit: 5) == Array(bytes[..<5]))
    let refused: StoredBody? = try fixture.result { done in
      fixture.store.createBody(expected: nil, total: 32 << 20, on: fixture.loop) { done($0) }
    }
    #expect(refused == nil)
  }
}
