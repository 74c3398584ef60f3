import CLinux
import PawlCache
import PawlDisk

/// One object in a pack: a head of 64 bytes with numbers, the metadata of the object, and its content. The metadata is padded to
/// complete units, and then further until the record has a size that a ``PackPlace`` can express. The content is padded to
/// complete units. A keyed XXH3 shows that pawl has written head and metadata; another XXH3 shows that the content is unchanged.
///
/// Only the eight bytes with the state, live or dead, ever change.
struct PackRecord {
  static let unit = PackPlace.unit
  private static let mark: UInt64 = 0x7061_776c_7061_636b
  private static let live: UInt64 = 1
  private static let dead: UInt64 = 2
  private static let isNeverSuperseded = UInt64.max
  /// The offset of the state in the record, and its value in a dead record.
  static let stateOffset = 8
  static var deadState: [UInt8] { withUnsafeBytes(of: dead.littleEndian) { Array($0) } }

  let row: ObjectRow
  let tags: [TagRecord]
  /// Counts the changes of the object. A process that was killed may leave two records of one object. Then the one with the
  /// higher revision is valid.
  let revision: UInt64
  /// The bytes of a ``PackedAnswer``; empty: none was decided.
  let answer: [UInt8]
  /// The range of the content in the bytes of the record.
  let content: Range<Int>
  /// XXH3-64 of the content.
  let digest: UInt64

  // MARK: Writing

  /// Makes everything that comes before the content of a record; `nil` if the record would be too large.
  /// - Parameters:
  ///   - count: the size of the content in bytes.
  ///   - seed: the secret seed of the cache. Without it, nobody can make bytes that pawl accepts as a record.
  static func front(
    of row: ObjectRow, _ tags: [TagRecord], revision: UInt64 = 0, answer: [UInt8] = [], content count: Int,
    digest: UInt64, seed: UInt64
  ) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(unit + 1024 + answer.count)
    bytes.append(contentsOf: repeatElement(0, count: unit))
    bytes.append(string: answer[...])
    bytes.append(number: row.supersededAt.map { UInt64(bitPattern: $0) } ?? isNeverSuperseded)
    bytes.append(number: revision)
    LedgerRecord.append(row, tags, to: &bytes)
    let wanted = bytes.count + padded(count)
    guard wanted <= PackPlace.recordLimit else { return nil }
    let size = PackPlace.padded(wanted)
    bytes.append(contentsOf: repeatElement(0, count: size - wanted))
    var head = Head(
      size: UInt32(size), metaSize: UInt32(bytes.count - unit), contentSize: UInt32(count), number: row.number,
      keyHash: row.keyHash, digest: digest)
    bytes.withUnsafeMutableBytes { bytes in
      head.check = head.check(of: UnsafeRawBufferPointer(rebasing: bytes[unit...]), seed: seed)
      head.write(to: bytes)
    }
    return bytes
  }

  /// Makes the bytes of a record; `nil` if it would be too large.
  static func bytes(
    of row: ObjectRow, _ tags: [TagRecord], revision: UInt64 = 0, answer: [UInt8] = [], content: UnsafeRawBufferPointer,
    digest: UInt64, seed: UInt64
  ) -> [UInt8]? {
    let front = front(
      of: row, tags, revision: revision, answer: answer, content: content.count, digest: digest, seed: seed)
    return front.map { $0 + content + repeatElement(0, count: padded(content.count) - content.count) }
  }

  static func padded(_ count: Int) -> Int { (count + unit - 1) / unit * unit }

  // MARK: Reading

  /// The first 64 bytes of a record: enough to find the next one.
  struct Head {
    var size: UInt32
    var metaSize: UInt32
    var contentSize: UInt32
    var number: Int64
    var keyHash: UInt64
    var digest: UInt64
    var check: UInt64 = 0
    var isLive = true
    /// The number of bytes before the content.
    var front: Int { PackRecord.unit + Int(metaSize) }

    fileprivate init(
      size: UInt32, metaSize: UInt32, contentSize: UInt32, number: Int64, keyHash: UInt64, digest: UInt64
    ) {
      (self.size, self.metaSize, self.contentSize) = (size, metaSize, contentSize)
      (self.number, self.keyHash, self.digest) = (number, keyHash, digest)
    }

    /// Reads a head; `nil` if no record begins with these bytes. Whether pawl has written them is checked later, together with
    /// the metadata.
    init?(_ bytes: UnsafeRawBufferPointer) {
      guard bytes.count >= unit, Self.number(bytes, 0) == mark else { return nil }
      let state = Self.number(bytes, PackRecord.stateOffset)
      let (sizes, more) = (Self.number(bytes, 16), Self.number(bytes, 24))
      (size, metaSize, contentSize) = (
        UInt32(truncatingIfNeeded: sizes), UInt32(truncatingIfNeeded: sizes >> 32), UInt32(truncatingIfNeeded: more)
      )
      number = Int64(bitPattern: Self.number(bytes, 32))
      (keyHash, digest, check) = (Self.number(bytes, 40), Self.number(bytes, 48), Self.number(bytes, 56))
      isLive = state == live
      guard more >> 32 == 0, state == live || state == dead, number > 0, Int(size) <= PackPlace.recordLimit,
        Int(metaSize) % unit == 0, unit + Int(metaSize) + padded(Int(contentSize)) == Int(size)
      else { return nil }
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
      UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    fileprivate func write(to output: UnsafeMutableRawBufferPointer) {
      let numbers = (
        mark.littleEndian, live.littleEndian, (UInt64(metaSize) << 32 | UInt64(size)).littleEndian,
        UInt64(contentSize).littleEndian, UInt64(bitPattern: number).littleEndian, keyHash.littleEndian,
        digest.littleEndian, check.littleEndian
      )
      withUnsafeBytes(of: numbers) { output.copyMemory(from: $0) }
    }

    /// Computes the checksum of the head, without its state, and of the metadata.
    func check(of meta: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
      let numbers = (
        UInt64(metaSize) << 32 | UInt64(size), UInt64(contentSize), UInt64(bitPattern: number), keyHash, digest
      )
      return withUnsafeBytes(of: numbers) { SegmentDigest.key($0, meta, seed: seed) }
    }
  }

  /// Reads a record; its content is not compared with its digest.
  /// - Returns: `nil` if the bytes are not a complete record that pawl wrote, or the record is dead.
  init?(_ bytes: UnsafeRawBufferPointer, seed: UInt64) {
    guard let head = Head(bytes), head.isLive, Int(head.size) <= bytes.count else { return nil }
    let meta = Self.unit..<Self.unit + Int(head.metaSize)
    guard head.check == head.check(of: UnsafeRawBufferPointer(rebasing: bytes[meta]), seed: seed) else { return nil }
    var reader = ByteReader(rest: Array(bytes[meta])[...])
    guard let answer = reader.string(), let superseded = reader.number(), let revision = reader.number(),
      let birth = LedgerRecord.birth(&reader, head.number), birth.row.keyHash == head.keyHash
    else { return nil }
    var row = birth.row
    row.supersededAt = superseded == Self.isNeverSuperseded ? nil : Int64(bitPattern: superseded)
    (row.total, row.isComplete) = (UInt64(head.contentSize), true)
    (row.held, row.synced) = (UInt64(head.contentSize), 1)
    self.answer = Array(answer)
    (self.row, tags, self.revision, digest) = (row, birth.tags, revision, head.digest)
    content = meta.upperBound..<meta.upperBound + Int(head.contentSize)
  }

  /// Returns the bytes of the ``PackedAnswer`` in the metadata of an object; `nil` if there is none or it is incomplete.
  static func answer(in meta: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard let count = number(at: 0, of: meta), count > 0, count <= UInt64(meta.count - 8) else { return nil }
    return UnsafeRawBufferPointer(rebasing: meta[8..<8 + Int(count)])
  }

  /// Whether the object is current, not superseded.
  static func isCurrent(_ meta: UnsafeRawBufferPointer, behind answer: Int) -> Bool {
    number(at: 8 + answer, of: meta) == isNeverSuperseded
  }

  /// Whether the object has this key.
  static func isKey(
    _ authority: UnsafeRawBufferPointer, _ target: UnsafeRawBufferPointer, in meta: UnsafeRawBufferPointer,
    behind answer: Int
  ) -> Bool {
    // The fields before the key: the answer and its length, the time of superseding, the revision, the id and its length, and the
    // hash of the key.
    let place = 8 + answer + 8 + 8 + 24 + 8
    guard let count = number(at: place, of: meta), count == UInt64(authority.count + 1 + target.count),
      place + 8 + Int(count) <= meta.count, let start = meta.baseAddress.map({ $0 + place + 8 }),
      start.load(fromByteOffset: authority.count, as: UInt8.self) == 0
    else { return false }
    if let first = authority.baseAddress, memcmp(start, first, authority.count) != 0 { return false }
    guard let second = target.baseAddress else { return true }
    return memcmp(start + authority.count + 1, second, target.count) == 0
  }

  private static func number(at place: Int, of meta: UnsafeRawBufferPointer) -> UInt64? {
    guard place >= 0, place + 8 <= meta.count else { return nil }
    return UInt64(bigEndian: meta.loadUnaligned(fromByteOffset: place, as: UInt64.self))
  }

  /// Whether the content is unchanged since it was written.
  func isIntact(_ bytes: UnsafeRawBufferPointer) -> Bool {
    SegmentDigest.of(UnsafeRawBufferPointer(rebasing: bytes[content])) == digest
  }

  /// The content as one segment; `nil` if it is empty.
  var segment: SegmentRecord? {
    content.isEmpty
      ? nil : SegmentRecord(offset: 0, length: UInt64(content.count), digest: digest, sequence: 1)
  }
}
