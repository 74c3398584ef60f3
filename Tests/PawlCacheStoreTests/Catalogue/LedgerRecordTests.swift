import PawlCache
import PawlDisk
import Testing

@testable import PawlCacheStore

@Suite("A record of the ledger") struct LedgerRecordTests {
  private let segment = SegmentRecord(offset: 1 << 20, length: 77, digest: 0xfeed, sequence: 0)
  private let tags = [TagRecord(tag: Array("pawl-1".utf8)), TagRecord(tag: [], limit: 5)]
  private let row = ObjectRow(
    number: 9, id: ObjectID(high: 1, low: 2), keyHash: 3, key: [0x61, 0, 0x2f], kind: .shared, owner: nil,
    head: [4, 5, 6],
    total: nil, isComplete: false, held: 0, synced: 0, isSuspect: false, storedAt: 7, supersededAt: nil, lastUsed: 8,
    uses: 0, expires: nil)

  private func written() -> [UInt8] {
    var bytes: [UInt8] = []
    LedgerRecord.write(birth: LedgerRecord.bytes(of: row, tags), of: 9, sequence: 1, to: &bytes)
    LedgerRecord.write(segment, of: 9, sequence: 2, to: &bytes)
    LedgerRecord.write(tags: LedgerRecord.bytes(of: Array(tags.reversed())), of: 9, sequence: 3, to: &bytes)
    return bytes
  }

  @Test("is read back as it was written, in whole units")
  func readBack() throws {
    let bytes = written()
    #expect(bytes.count % LedgerRecord.unit == 0)
    let records = LedgerRecord.all(in: bytes + [UInt8](repeating: 0, count: 640))
    try #require(records.map(\.sequence) == [1, 2, 3] && records.allSatisfy { $0.number == 9 })
    guard case .birth(let found, let named) = records[0].content, case .extent(let extent) = records[1].content,
      case .tags(let later) = records[2].content
    else { return #expect(Bool(false), "\(records)") }
    #expect(found.id == row.id && found.key == row.key && found.head == row.head && found.total == nil)
    #expect(found.keyHash == 3 && found.storedAt == 7 && found.lastUsed == 8 && found.expires == nil)
    #expect(named == tags && extent == segment && later == tags.reversed())
  }

  @Test("with one bit wrong, wherever, is none; the others are read")
  func damaged() {
    let bytes = written()
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= 1
      let sequences = LedgerRecord.all(in: damaged).map(\.sequence)
      #expect(sequences.count == 2 && Set(sequences).isSubset(of: [1, 2, 3]), "byte \(place)")
    }
  }

  @Test("behind a gap of whole units is found; cut off it is none")
  func gaps() {
    let bytes = written()
    #expect(LedgerRecord.all(in: [UInt8](repeating: 7, count: 192) + bytes).count == 3)
    #expect(LedgerRecord.all(in: Array(bytes.dropLast())).map(\.sequence) == [1, 2])
    #expect(LedgerRecord.all(in: []).isEmpty)
  }
}
