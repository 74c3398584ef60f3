import CLinux
import PawlCache
import PawlDisk
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("What the ledger has and the catalogue has not") struct LedgerReplayTests {
  private func database(_ directory: TestDirectory) throws -> Database {
    let database = try Database(path: CatalogueFile.path(in: directory.path), isReader: false)
    try CatalogueSchema.prepare(database, seed: 1)
    return database
  }

  private func row(_ number: Int64) -> ObjectRow {
    ObjectRow(
      number: number, id: ObjectID(high: 1, low: UInt64(number)), keyHash: 3, key: [0x61, 0, 0x2f], kind: .shared,
      owner: nil,
      head: [4], total: nil, isComplete: false, held: 0, synced: 0, isSuspect: false, storedAt: 7, supersededAt: nil,
      lastUsed: 8, uses: 0, expires: nil)
  }

  private func extent(_ offset: UInt64, _ length: UInt64) -> SegmentRecord {
    SegmentRecord(offset: offset, length: length, digest: length, sequence: 0)
  }

  private func write(_ bytes: [UInt8], in directory: TestDirectory) throws {
    let descriptor = try Files.open(directory.path + Ledger.name, O_RDWR | O_CREAT)
    defer { close(descriptor) }
    try bytes.withUnsafeBytes { try Files.writeAll(descriptor, $0, at: 0) }
  }

  @Test("comes into it: objects it never had, the longest of each segment, the latest tags; what it let go of does not")
  func replays() throws {
    let directory = TestDirectory()
    let database = try database(directory)
    try CatalogueSchema.setMeta(database, Ledger.sequenceName, 10)
    try CatalogueChange.insert(row(1)).apply(to: database)
    try CatalogueChange.segments(1, [extent(0, 50)], held: 50).apply(to: database)
    var bytes: [UInt8] = []
    LedgerRecord.write(birth: LedgerRecord.bytes(of: row(2), []), of: 2, sequence: 10, to: &bytes)
    LedgerRecord.write(extent(0, 40), of: 1, sequence: 11, to: &bytes)
    LedgerRecord.write(birth: LedgerRecord.bytes(of: row(3), [TagRecord(tag: [1])]), of: 3, sequence: 12, to: &bytes)
    LedgerRecord.write(extent(0, 100), of: 3, sequence: 13, to: &bytes)
    LedgerRecord.write(extent(0, 90), of: 3, sequence: 14, to: &bytes)
    LedgerRecord.write(extent(1 << 20, 7), of: 3, sequence: 15, to: &bytes)
    LedgerRecord.write(tags: LedgerRecord.bytes(of: [TagRecord(tag: [2], limit: 3)]), of: 3, sequence: 16, to: &bytes)
    LedgerRecord.write(extent(0, 9), of: 2, sequence: 17, to: &bytes)
    try write(bytes, in: directory)
    let last = try LedgerReplay.run(in: directory.path, into: database)
    #expect(last == 17)
    #expect(try database.integer("SELECT count(*) FROM objects WHERE number = 2") == 0)
    #expect(try database.integer("SELECT length FROM segments WHERE object = 1") == 50)
    #expect(try database.integer("SELECT held FROM objects WHERE number = 3") == 107)
    #expect(try database.integer("SELECT length FROM segments WHERE object = 3 AND offset = 0") == 100)
    #expect(try database.integer("SELECT \"limit\" FROM tags WHERE object = 3") == 3)
    #expect(try database.integer("SELECT count(*) FROM segments WHERE object = 2") == 0)
    #expect(try CatalogueSchema.meta(database, Ledger.sequenceName) == 17)
    let again = try LedgerReplay.run(in: directory.path, into: database)
    #expect(again == 17)
  }

  @Test("no ledger, or one of rubbish, is nothing")
  func nothing() throws {
    let directory = TestDirectory()
    let database = try database(directory)
    let none = try LedgerReplay.run(in: directory.path, into: database)
    try write(pattern(10_000), in: directory)
    let rubbish = try LedgerReplay.run(in: directory.path, into: database)
    #expect(none == 0 && rubbish == 0)
  }
}
