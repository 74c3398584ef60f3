import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Index") struct ResourceIndexTests {
  private func key(_ number: Int) -> CacheKey {
    CacheKey(authority: Bytes("host\(number % 7)"), target: Bytes("/\(number)"))
  }

  private func find(_ index: ResourceIndex, _ key: CacheKey) -> Resource? {
    key.authority.withUnsafeBytes { authority in key.target.withUnsafeBytes { index.find(authority, $0) } }
  }

  @Test("finds what was put in, through growth and removals, and nothing else")
  func findsAll() throws {
    let index = ResourceIndex(seed: 7, hashes: [])
    var resources: [Int: Resource] = [:]
    for number in 0..<20_000 { resources[number] = index.find(key(number), create: true) }
    #expect(index.count == 20_000)
    for number in stride(from: 0, to: 20_000, by: 3) {
      index.removeIfEmpty(try #require(resources[number]))
    }
    for number in 0..<20_000 {
      let expected = number % 3 == 0 ? nil : resources[number]
      #expect(find(index, key(number)) === expected)
    }
    #expect(find(index, key(20_001)) == nil)
    #expect(find(index, CacheKey(authority: Bytes("host1/"), target: Bytes("1"))) == nil)
  }

  @Test("a mark becomes a resource that has to be loaded, once")
  func marks() throws {
    let hashes = ResourceIndex(seed: 7, hashes: []).hash(of: key(1))
    let index = ResourceIndex(seed: 7, hashes: [hashes, hashes])
    #expect(index.count == 1)
    #expect(index.find(key(2), create: false) == nil)
    let resource = try #require(find(index, key(1)))
    #expect(resource.withLock { !$0.isLoaded })
    #expect(find(index, key(1)) === resource)
    index.removeIfEmpty(resource)
    #expect(find(index, key(1)) === resource)
  }

  @Test("marks go when their last object does")
  func lowersMarks() {
    let hash = ResourceIndex(seed: 7, hashes: []).hash(of: key(1))
    let index = ResourceIndex(seed: 7, hashes: [hash, hash])
    guard case .unmarked = index.presence(of: hash) else { return #expect(Bool(false)) }
    #expect(index.count == 1)
    guard case .unmarked = index.presence(of: hash) else { return #expect(Bool(false)) }
    #expect(index.count == 0)
  }

  @Test("loads a catalogue of many rows (PAWL_INDEX_ROWS) and says how long it took")
  func loadsMany() throws {
    let count = getenv("PAWL_INDEX_ROWS").flatMap { Int(String(cString: $0)) } ?? 20_000
    let directory = TestDirectory()
    do { _ = try StoreFixture(in: directory) }
    do {
      let database = try Database(path: directory.path + "/cache/catalogue.sqlite", isReader: false)
      try database.execute("PRAGMA synchronous = OFF; BEGIN")
      let head = [UInt8](repeating: 65, count: 600)
      for number in 1...count {
        let id = ObjectID.make()
        try CatalogueChange.insert(
          ObjectRow(
            number: Int64(number), id: id, keyHash: id.low, key: Array("a.example\0/\(number)".utf8), kind: .shared,
            owner: nil, head: head, total: 9, isComplete: true, held: 9, synced: 0, isSuspect: false, storedAt: 0,
            supersededAt: nil, lastUsed: 0, uses: 0, expires: nil)
        ).apply(to: database)
      }
      try database.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
    }
    let started = SystemClock().now()
    let opened = try CatalogueFile.open(in: directory.path + "/cache", EventLog { _ in })
    let index = ResourceIndex(seed: opened.seed, hashes: opened.index.hashes)
    let took = SystemClock().now() - started
    print("loaded \(count) rows in \(took)")
    #expect(index.count == count)
    #expect(opened.index.heldBytes == UInt64(count) * 9)
    #expect(opened.index.nextNumber == Int64(count) + 1)
  }
}
