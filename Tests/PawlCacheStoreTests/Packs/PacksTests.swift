import CLinux
import PawlBase
import PawlCache
import PawlDisk
import PawlLoop
import PawlObserve
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

/// Packs without a store around them.
final class PackFixture {
  let directory: TestDirectory
  let pool = WorkerPool(threads: 2)
  let clock = ManualClock()
  let budget = DiskBudget(maxSize: 1 << 30, minFree: 0)
  let log = Locked([String]())
  let packs: Packs
  private let events: EventLog

  init(in directory: TestDirectory = TestDirectory(), packSize: Int = 1 << 20, seed: UInt64 = 5) {
    self.directory = directory
    let log = log
    events = EventLog { line in log.withLock { $0.append(line) } }
    packs = Packs(
      StorePlace(directory.path), contentLimit: 64 << 10, packSize: packSize, seed: seed, pool: pool, events: events,
      budget: budget, clock: clock)
  }

  deinit { pool.stop() }

  func record(_ number: Int64, _ count: Int = 100) throws -> [UInt8] {
    let row = ObjectRow(
      number: number, id: ObjectID(high: 1, low: UInt64(number)), keyHash: UInt64(number) &* 0x9E37_79B9_7F4A_7C15,
      key: Array("a.example\0/\(number)".utf8), kind: .shared, owner: nil, head: Array("head".utf8), total: nil,
      isComplete: false, held: 0, synced: 0, isSuspect: false, storedAt: 0, supersededAt: nil, lastUsed: 0, uses: 0,
      expires: nil)
    let made = pattern(count, seed: UInt64(number)).withUnsafeBytes {
      PackRecord.bytes(of: row, [], content: $0, digest: SegmentDigest.of($0), seed: packs.seed)
    }
    return try #require(made)
  }

  /// Writes records until a second pack is begun.
  /// - Returns: those in the first.
  func fill(from first: Int64 = 1, _ count: Int = 10_000) throws -> [Int64: PackPlace] {
    var places: [Int64: PackPlace] = [:]
    var number = first
    while true {
      let place = try append(number, count)
      if let known = places.values.first, known.pack != place.pack { return places }
      places[number] = place
      number += 1
    }
  }

  func append(_ number: Int64, _ count: Int = 100) throws -> PackPlace {
    let place = packs.append(try record(number, count))
    return try #require(place)
  }

  func logged(_ event: String) -> [String] {
    events.flush()
    return log.withLock { $0.filter { $0.contains(" \(event)") } }
  }

  /// Waits until the pool has done what it was given so far.
  func settle() { pool.stop() }
}

@Suite("Packs") struct PacksTests {
  @Test("are as large as makes room finely, and no more than may hold a descriptor each")
  func sizes() {
    let mebi = UInt64(1) << 20
    let expected: [(cache: UInt64, most: Int, pack: UInt64)] = [
      (1, 4096, 0), (64, 4096, 1), (1024, 4096, 16), (4096, 4096, 64), (262_144, 4096, 64), (524_288, 4096, 128),
      (1_048_576, 4096, 256), (4_194_304, 4096, 256), (4096, 64, 64), (4096, 32, 128), (4096, 1, 256), (64, 1, 64),
    ]
    for each in expected { #expect(Packs.size(for: each.cache * mebi, mostPacks: each.most) / mebi == each.pack) }
  }

  @Test("what is written is read, from the page cache and from the disk")
  func reads() throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    let place = try fixture.append(7)
    #expect(place.offset == Pack.headSize)
    let pack = try #require(fixture.packs.pack(place.pack))
    for waits in [false, true] {
      guard case .bytes(let bytes) = pack.read(place, waits: waits) else { return #expect(Bool(false)) }
      #expect(try bytes == fixture.record(7))
    }
    #expect(fixture.budget.used == UInt64(Pack.headSize + place.size))
  }

  @Test("a full pack is sealed, gets its list, and another goes on")
  func rollsOver() throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    let places = try fixture.fill()
    fixture.settle()
    let first = try #require(places.values.first?.pack)
    let all = fixture.packs.all
    #expect(all.count == 2)
    #expect(all.filter(\.isSealed).map(\.number) == [first])
    #expect(all.first { $0.number == first }?.live == places.values.reduce(0) { $0 + $1.size })
    #expect(access(fixture.packs.indexPath(of: first), F_OK) == 0)
  }

  @Test("a record that was killed counts no more, and once only")
  func killsOnce() throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    let (place, other) = (try fixture.append(1), try fixture.append(2))
    let pack = try #require(fixture.packs.pack(place.pack))
    for _ in 0..<3 { fixture.packs.kill(place) }
    #expect(pack.live == other.size)
    #expect(fixture.packs.record(place) == nil)
    #expect(fixture.packs.record(other)?.record.row.number == 2)
  }

  @Test("a full pack goes with its last record, and its list with it; who has it reads on")
  func removesEmpty() throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    let places = try fixture.fill()
    let number = try #require(places.values.first?.pack)
    let pack = try #require(fixture.packs.pack(number))
    let last = try #require(places.first)
    for place in places.values { fixture.packs.kill(place) }
    fixture.settle()
    #expect(fixture.packs.pack(number) == nil)
    #expect(access(fixture.packs.path(of: number), F_OK) != 0)
    #expect(access(fixture.packs.indexPath(of: number), F_OK) != 0)
    guard case .bytes(let bytes) = pack.read(last.value, waits: true) else { return #expect(Bool(false)) }
    #expect(try bytes.suffix(128) == fixture.record(last.key, 10_000).suffix(128))
    #expect(fixture.budget.used == UInt64(fixture.packs.size))
  }

  @Test("packs may come in another order than they were made in, and after older ones have gone")
  func anyOrder() throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    func pack(_ number: UInt32) -> Pack {
      Pack(number: number, descriptor: -1, end: 64, live: 0, isSealed: true, lastWritten: 0, pool: fixture.pool)
    }
    for number in [5, 3, 9, 4, 1] as [UInt32] { fixture.packs.enter(pack(number)) }
    #expect(fixture.packs.all.map(\.number) == [1, 3, 4, 5, 9])
    for number in [1, 3, 4, 5] as [UInt32] {
      let pack = try #require(fixture.packs.pack(number))
      fixture.packs.remove(pack)
    }
    fixture.packs.enter(pack(2))
    #expect(fixture.packs.all.map(\.number) == [2, 9])
    for number in [0, 1, 3, 8, 10, .max] as [UInt32] { #expect(fixture.packs.pack(number) == nil) }
  }

  @Test("one pack is made ahead, again and again")
  func spares() throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    func files() -> Int { TestDirectory.entries(fixture.packs.directory).count }
    for _ in 0..<3 { fixture.packs.makeSpare() }
    #expect(files() == 1)
    _ = try fixture.append(1)
    // The one that was used is replaced in the pool, too.
    for _ in 0..<10_000 where files() < 2 {
      fixture.packs.makeSpare()
      usleep(1000)
    }
    fixture.packs.makeSpare()
    #expect(files() == 2)
    fixture.packs.close()
    #expect(files() == 1)
    fixture.packs.makeSpare()
    #expect(files() == 1)
  }

  @Test("many writers at once lose nothing and overwrite nothing")
  func manyWriters() throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    let places = Locked([Int64: PackPlace]())
    let records = try (1...400).map { (Int64($0), try fixture.record(Int64($0), 9000)) }
    let threads = try (0..<8).map { lane in
      let packs = fixture.packs
      return try LoopThread(name: "writer") {
        for (number, bytes) in records where Int(number) % 8 == lane {
          let place = packs.append(bytes)
          places.withLock { $0[number] = place }
        }
      }
    }
    for thread in threads { thread.join() }
    let found = places.withLock { $0 }
    #expect(found.count == 400)
    for (number, place) in found { #expect(fixture.packs.record(place)?.record.row.number == number) }
  }

  @Test("where a pack cannot be made or written nothing is claimed to be there, and what comes later is found")
  func fullDisk() throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    let before = try fixture.append(1)
    let pack = try #require(fixture.packs.pack(before.pack))
    let refused = try pack.whileFull { try fixture.packs.append(fixture.record(2, 5000)) }
    #expect(refused == nil)
    #expect(fixture.logged("pack-write-failed").count == 1)
    let after = try fixture.append(3)
    #expect(after.offset == before.offset + before.size)
    #expect(fixture.packs.record(after)?.record.row.number == 3)
  }
}

extension Pack {
  /// Its disk takes nothing as long as `body` runs.
  func whileFull<R>(_ body: () throws -> R) throws -> R {
    let (kept, full) = (dup(descriptor), try Files.open("/dev/full", O_RDWR))
    dup2(full, descriptor)
    close(full)
    defer {
      dup2(kept, descriptor)
      close(kept)
    }
    return try body()
  }
}
