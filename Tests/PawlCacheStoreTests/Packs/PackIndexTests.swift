import CLinux
import PawlCache
import PawlDisk
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Lists of packs") struct PackIndexTests {
  private let content = PackList.Content(
    entries: (1...100).map { PackEntry(hash: $0 &* 977, place: PackPlace(pack: 3, offset: Int($0) * 640, size: 640)) },
    lastNumber: 4711, end: 64_640)

  @Test("a list says what it was made of; that of another pack, of another cache, or one byte other, is none")
  func list() throws {
    let bytes = PackList.bytes(content, seed: 5)
    let read = try #require(PackList.read(bytes, of: 3, seed: 5))
    #expect((read.entries, read.lastNumber, read.end) == (content.entries, 4711, 64_640))
    #expect(PackList.read(bytes, of: 4, seed: 5) == nil)
    #expect(PackList.read(bytes, of: 3, seed: 6) == nil)
    for place in bytes.indices where !(40..<64).contains(place) {
      var other = bytes
      other[place] ^= 1
      #expect(PackList.read(other, of: 3, seed: 5) == nil, "byte \(place)")
    }
    for count in [0, 63, 64, bytes.count - 1] {
      #expect(PackList.read(Array(bytes.prefix(count)), of: 3, seed: 5) == nil)
    }
    #expect(PackList.read(bytes + [0], of: 3, seed: 5) == nil)
  }

  /// A directory with a full pack and one that was begun, as a killed process leaves them.
  private func killed(_ fixture: PackFixture) throws -> (full: [Int64: PackPlace], directory: TestDirectory) {
    _ = try fixture.packs.open()
    let places = try fixture.fill()
    fixture.settle()
    return (places, try fixture.directory.copy())
  }

  private func numbers(_ packs: Packs, _ inventory: PackInventory) -> Set<Int64> {
    Set(inventory.entries.compactMap { packs.record($0.place)?.record.row.number })
  }

  @Test("after a kill all is found, by the list and without it", arguments: [true, false])
  func finds(hasList: Bool) throws {
    let fixture = PackFixture()
    let (places, directory) = try killed(fixture)
    let number = try #require(places.values.first?.pack)
    let path = fixture.packs.indexPath(of: number)
    let copied = directory.path + path.dropFirst(fixture.directory.path.count)
    #expect(access(copied, F_OK) == 0)
    if !hasList { unlink(copied) }
    let opened = PackFixture(in: directory)
    let inventory = try opened.packs.open()
    #expect(numbers(opened.packs, inventory) == Set(1...Int64(places.count + 1)))
    #expect(inventory.lastNumber == Int64(places.count + 1))
    #expect(inventory.entries.allSatisfy { $0.hash == opened.packs.record($0.place)?.record.row.keyHash })
    #expect(opened.packs.all.filter { !$0.isSealed }.isEmpty)
  }

  @Test("what a pack lost while pawl did not run is told of: its end, its file, the catalogue that it belonged to")
  func losses() throws {
    let fixture = PackFixture()
    let (places, directory) = try killed(fixture)
    let number = try #require(places.values.first?.pack)
    let path = directory.path + fixture.packs.path(of: number).dropFirst(fixture.directory.path.count)
    let (whole, list) = (try TestDirectory.contents(path), try TestDirectory.contents(path + ".index"))
    #expect(truncate(path, off_t(whole.count - 1000)) == 0)
    let short = PackFixture(in: directory)
    _ = try short.packs.open()
    #expect(short.logged("pack-damaged").contains { $0.contains("1000 bytes are missing at its end") })
    unlink(path)
    try TestDirectory.write(list, to: path + ".index")
    let without = PackFixture(in: directory)
    _ = try without.packs.open()
    #expect(without.logged("pack-dropped").contains { $0.contains("its file is missing") })
    #expect(access(path + ".index", F_OK) != 0)
    let other = PackFixture(in: directory, seed: 6)
    _ = try other.packs.open()
    #expect(other.logged("pack-dropped").contains { $0.contains("not of this catalogue") })
  }

  @Test("a list that is cut, or says less than there is, is passed over for what the pack itself says")
  func cutList() throws {
    let fixture = PackFixture()
    let (places, directory) = try killed(fixture)
    let number = try #require(places.values.first?.pack)
    let path = directory.path + fixture.packs.indexPath(of: number).dropFirst(fixture.directory.path.count)
    try TestDirectory.write(try TestDirectory.contents(path).dropLast(16), to: path)
    let opened = PackFixture(in: directory)
    #expect(numbers(opened.packs, try opened.packs.open()).count == places.count + 1)
  }

  @Test("what was killed after the list was made is none, and is not counted twice")
  func killedInList() throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    let places = try fixture.fill()
    let gone = try #require(places.keys.sorted().first)
    fixture.settle()
    let place = try #require(places[gone])
    fixture.packs.kill(place)
    let opened = PackFixture(in: try fixture.directory.copy())
    let inventory = try opened.packs.open()
    #expect(!numbers(opened.packs, inventory).contains(gone))
    let pack = try #require(opened.packs.pack(place.pack))
    let live = pack.live
    opened.packs.kill(place)
    #expect(pack.live == live)
  }

  @Test("the numbers of records that count no more are not used again")
  func numbersOfTheDead() throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    _ = try fixture.append(1)
    fixture.packs.kill(try fixture.append(900))
    let opened = PackFixture(in: try fixture.directory.copy())
    #expect(try opened.packs.open().lastNumber == 900)
  }

  @Test("a list without its pack goes: it would hide what is in another pack of that number")
  func orphanedList() throws {
    let fixture = PackFixture()
    let (places, directory) = try killed(fixture)
    let number = try #require(places.values.first?.pack)
    let path = directory.path + fixture.packs.path(of: number).dropFirst(fixture.directory.path.count)
    unlink(path)
    let opened = PackFixture(in: directory)
    _ = try opened.packs.open()
    #expect(access(path + ".index", F_OK) != 0)
  }

  @Test("a pack of another cache goes, and so do one that nothing was written to and one of which nothing counts")
  func foreignPacks() throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    let place = try fixture.append(1)
    fixture.packs.makeSpare()
    let copy = try fixture.directory.copy()
    let other = PackFixture(in: copy, seed: 6)
    #expect(try other.packs.open().entries.isEmpty)
    #expect(TestDirectory.entries(other.packs.directory).isEmpty)
    fixture.packs.kill(place)
    let dead = PackFixture(in: try fixture.directory.copy())
    #expect(try dead.packs.open().entries.isEmpty)
    #expect(TestDirectory.entries(dead.packs.directory).isEmpty)
    // No number comes twice.
    #expect(try dead.append(2).pack > place.pack)
  }

  @Test(
    "a record that a kill cut off is none, whatever of it was written; those before it stay",
    arguments: [1, 64, 200, 5000])
  func tornTail(kept: Int) throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    _ = try fixture.append(1)
    let torn = try fixture.append(2, 9000)
    let copy = try fixture.directory.copy()
    truncate(copy.path + fixture.packs.path(of: torn.pack).dropFirst(fixture.directory.path.count), torn.offset + kept)
    let opened = PackFixture(in: copy)
    #expect(numbers(opened.packs, try opened.packs.open()) == [1])
  }

  @Test("a damaged record hides none of those behind it", arguments: [0, 16, 70])
  func damaged(byte: Int) throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    let places = try (1...20).map { try fixture.append(Int64($0), 3000) }
    let copy = try fixture.directory.copy()
    let path = copy.path + fixture.packs.path(of: places[0].pack).dropFirst(fixture.directory.path.count)
    var bytes = try TestDirectory.contents(path)
    bytes[places[4].offset + byte] ^= 0xff
    try TestDirectory.write(bytes, to: path)
    let opened = PackFixture(in: copy)
    #expect(numbers(opened.packs, try opened.packs.open()) == Set(1...20).subtracting([5]))
  }

  @Test("content that was made to look like a record of this cache is none where a damaged one lets it be read")
  func forgedRecord() throws {
    let fixture = PackFixture()
    _ = try fixture.packs.open()
    let other = PackFixture(seed: 6)
    let forged = try other.record(.max - 1, 100)
    let row = ObjectRow(
      number: 1, id: ObjectID(high: 1, low: 1), keyHash: 1, key: Array("a.example\0/1".utf8), kind: .shared, owner: nil,
      head: [], total: nil, isComplete: false, held: 0, synced: 0, isSuspect: false, storedAt: 0, supersededAt: nil,
      lastUsed: 0, uses: 0, expires: nil)
    let made = forged.withUnsafeBytes {
      PackRecord.bytes(of: row, [], content: $0, digest: SegmentDigest.of($0), seed: 5)
    }
    let appended = fixture.packs.append(try #require(made))
    let place = try #require(appended)
    _ = try fixture.append(2)
    let copy = try fixture.directory.copy()
    let path = copy.path + fixture.packs.path(of: place.pack).dropFirst(fixture.directory.path.count)
    var all = try TestDirectory.contents(path)
    all[place.offset] ^= 0xff
    try TestDirectory.write(all, to: path)
    let opened = PackFixture(in: copy)
    let inventory = try opened.packs.open()
    #expect(numbers(opened.packs, inventory) == [2])
    #expect(inventory.lastNumber == 2)
  }
}
