import PawlCache
import PawlDisk
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Records in packs") struct PackRecordTests {
  private static let seed: UInt64 = 0x5eed
  private static let tags = [
    TagRecord(tag: Array("t".utf8), limit: .max), TagRecord(tag: Array("alias".utf8), limit: 7),
  ]

  private func row(_ change: (inout ObjectRow) -> Void = { _ in }) -> ObjectRow {
    var row = ObjectRow(
      number: 42, id: ObjectID(high: 1, low: 2), keyHash: 99, key: Array("a.example\0/x".utf8), kind: .shared,
      owner: nil,
      head: Array("head".utf8), total: nil, isComplete: false, held: 0, synced: 0, isSuspect: false,
      storedAt: 1_700_000_000,
      supersededAt: nil, lastUsed: 1_700_000_001, uses: 0, expires: nil)
    change(&row)
    return row
  }

  private func bytes(
    _ row: ObjectRow, _ content: [UInt8], revision: UInt64 = 0, answer: [UInt8] = []
  ) throws -> [UInt8] {
    let made = content.withUnsafeBytes {
      PackRecord.bytes(
        of: row, Self.tags, revision: revision, answer: answer, content: $0, digest: SegmentDigest.of($0),
        seed: Self.seed)
    }
    return try #require(made)
  }

  private func read(_ bytes: [UInt8], seed: UInt64 = seed) -> PackRecord? {
    bytes.withUnsafeBytes { PackRecord($0, seed: seed) }
  }

  @Test(
    "a record says all that was known of the object",
    arguments: [0, 1, 63, 64, 65, 10_240, 131_072, 262_144, 1_000_001])
  func roundTrip(count: Int) throws {
    let row = row {
      ($0.kind, $0.owner, $0.expires, $0.supersededAt) = (.personal, Array("me".utf8), 1_800_000_000, 1_700_000_009)
    }
    let bytes = try bytes(row, pattern(count), revision: 3, answer: Array("answer".utf8))
    #expect(bytes.count == PackPlace.padded(bytes.count))
    let record = try #require(read(bytes))
    #expect(Array(bytes[record.content]) == pattern(count))
    #expect(bytes.withUnsafeBytes { record.isIntact($0) })
    #expect((record.tags, record.revision, record.answer) == (Self.tags, 3, Array("answer".utf8)))
    #expect((record.row.number, record.row.id, record.row.keyHash, record.row.key) == (42, row.id, 99, row.key))
    #expect((record.row.kind, record.row.owner, record.row.expires) == (.personal, Array("me".utf8), 1_800_000_000))
    #expect((record.row.storedAt, record.row.supersededAt) == (1_700_000_000, 1_700_000_009))
    #expect((record.row.total, record.row.isComplete, record.row.head) == (UInt64(count), true, Array("head".utf8)))
    #expect(record.segment?.length == (count == 0 ? nil : UInt64(count)))
  }

  @Test("no byte can be another: it is no record then, or its content is not intact, but for what pads it")
  func everyByte() throws {
    let bytes = try bytes(row(), pattern(100), answer: Array("answer".utf8))
    let intact = try #require(read(bytes))
    for place in bytes.indices {
      for bit in [0, 7] as [UInt8] {
        var flipped = bytes
        flipped[place] ^= 1 << bit
        guard let record = read(flipped) else { continue }
        let isContent = intact.content.contains(place)
        #expect(isContent || place >= intact.content.upperBound, "byte \(place)")
        #expect(flipped.withUnsafeBytes { record.isIntact($0) } != isContent, "byte \(place)")
      }
    }
  }

  @Test("a record that counts no more, one of another cache, and one that is cut are none")
  func refused() throws {
    let bytes = try bytes(row(), pattern(100))
    var dead = bytes
    dead.replaceSubrange(PackRecord.stateOffset..<PackRecord.stateOffset + 8, with: PackRecord.deadState)
    #expect(read(dead) == nil)
    #expect(dead.withUnsafeBytes { PackRecord.Head($0)?.isLive } == false)
    #expect(read(bytes, seed: Self.seed + 1) == nil)
    for count in [0, 63, 64, 128, bytes.count - 1] { #expect(read(Array(bytes.prefix(count))) == nil, "\(count)") }
  }

  @Test("content that looks like a record of a cache of another seed is none")
  func forged() throws {
    let forged = pattern(10).withUnsafeBytes {
      PackRecord.bytes(of: row { $0.number = .max }, [], content: $0, digest: SegmentDigest.of($0), seed: 1)
    }
    let bytes = try bytes(row(), try #require(forged))
    let record = try #require(read(bytes))
    #expect(read(Array(bytes[record.content])) == nil)
  }

  @Test("a record of the most bytes is made, and one of a unit more is not")
  func limit() throws {
    let small = try bytes(row(), [])
    let most = PackPlace.recordLimit - small.count
    #expect(small.count % PackRecord.unit == 0)
    #expect(try bytes(row(), pattern(most)).count == PackPlace.recordLimit)
    let more = pattern(most + 1)
    let refused = more.withUnsafeBytes {
      PackRecord.bytes(of: row(), Self.tags, content: $0, digest: 0, seed: Self.seed)
    }
    #expect(refused == nil)
  }

  @Test("what has been superseded is told by what is known of the object")
  func isCurrent() throws {
    for (row, isCurrent) in [(row(), true), (row { $0.supersededAt = 5 }, false)] {
      let bytes = try bytes(row, pattern(10), answer: Array("answer".utf8))
      let meta = bytes.withUnsafeBytes { PackRecord.Head($0)?.metaSize } ?? 0
      bytes.withUnsafeBytes { bytes in
        let meta = UnsafeRawBufferPointer(rebasing: bytes[PackRecord.unit..<PackRecord.unit + Int(meta)])
        #expect(PackRecord.isCurrent(meta, behind: 6) == isCurrent)
        #expect(PackRecord.answer(in: meta).map { Array($0) } == Array("answer".utf8))
      }
    }
  }

  @Test(
    "a key is told byte by byte",
    arguments: [("a.example", "/x", true), ("a.example", "/y", false), ("a.exampl", "e/x", false), ("", "/x", false)])
  func isKey(authority: String, target: String, isSame: Bool) throws {
    for answer in [[], Array("answer".utf8)] {
      let bytes = try bytes(row(), pattern(10), answer: answer)
      let size = bytes.withUnsafeBytes { PackRecord.Head($0)?.metaSize } ?? 0
      let found = bytes.withUnsafeBytes { bytes in
        Array(authority.utf8).withUnsafeBytes { authority in
          Array(target.utf8).withUnsafeBytes { target in
            PackRecord.isKey(
              authority, target,
              in: UnsafeRawBufferPointer(rebasing: bytes[PackRecord.unit..<PackRecord.unit + Int(size)]),
              behind: answer.count)
          }
        }
      }
      #expect(found == isSame)
    }
  }
}
