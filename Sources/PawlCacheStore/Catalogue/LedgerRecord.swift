import PawlCache
import PawlDisk
import PawlLoop

/// One record of the ledger: a head of 64 bytes, then data. The head has eight numbers; the last one is the XXH3 of the other
/// seven and of the data.
struct LedgerRecord {
  enum Content {
    /// The digest of the bytes of a segment that have come so far.
    case extent(SegmentRecord)
    /// The row and the tags of an object, which the catalogue may not have yet.
    case birth(ObjectRow, [TagRecord])
    /// All tags of an object, which replace the earlier ones.
    case tags([TagRecord])
  }

  static let unit = 64
  private static let extentMark: UInt64 = 0x7061_776c_0000_0001
  private static let birthMark: UInt64 = 0x7061_776c_0000_0002
  private static let tagsMark: UInt64 = 0x7061_776c_0000_0003

  let number: Int64
  let sequence: UInt64
  let content: Content

  // MARK: Writing

  static func write(_ record: SegmentRecord, of number: Int64, sequence: UInt64, to output: inout [UInt8]) {
    write(
      [extentMark, sequence, UInt64(bitPattern: number), record.offset, record.length, record.digest, 0], [],
      to: &output)
  }

  /// Returns the bytes of a row in complete units, without the head of the record.
  static func bytes(of row: ObjectRow, _ tags: [TagRecord]) -> [UInt8] {
    var output: [UInt8] = []
    append(row, tags, to: &output)
    return output
  }

  /// Appends the bytes of a row to `output`, and pads `output` to complete units.
  static func append(_ row: ObjectRow, _ tags: [TagRecord], to output: inout [UInt8]) {
    output.append(string: row.id.bytes[...])
    output.append(number: row.keyHash)
    output.append(string: row.key[...])
    output.append(number: UInt64(bitPattern: row.kind.rawValue))
    output.append(string: (row.owner ?? [])[...])
    output.append(string: row.head[...])
    output.append(number: row.total ?? .max)
    output.append(number: UInt64(bitPattern: row.storedAt))
    output.append(number: UInt64(bitPattern: row.lastUsed))
    output.append(number: UInt64(bitPattern: row.expires ?? .max))
    append(tags, to: &output)
  }

  /// Returns the bytes of tags in complete units, without the head of the record.
  static func bytes(of tags: [TagRecord]) -> [UInt8] {
    var output: [UInt8] = []
    append(tags, to: &output)
    return output
  }

  private static func append(_ tags: [TagRecord], to output: inout [UInt8]) {
    output.append(number: UInt64(tags.count))
    for tag in tags {
      output.append(string: tag.tag[...])
      output.append(number: tag.limit)
    }
    output.append(contentsOf: repeatElement(0, count: (unit - output.count % unit) % unit))
  }

  static func write(birth bytes: [UInt8], of number: Int64, sequence: UInt64, to output: inout [UInt8]) {
    write([birthMark, sequence, UInt64(bitPattern: number), UInt64(bytes.count), 0, 0, 0], bytes, to: &output)
  }

  static func write(tags bytes: [UInt8], of number: Int64, sequence: UInt64, to output: inout [UInt8]) {
    write([tagsMark, sequence, UInt64(bitPattern: number), UInt64(bytes.count), 0, 0, 0], bytes, to: &output)
  }

  private static func write(_ numbers: [UInt64], _ bytes: [UInt8], to output: inout [UInt8]) {
    let start = output.count
    for number in numbers { withUnsafeBytes(of: number.littleEndian) { output.append(contentsOf: $0) } }
    let check = check(output[start...], bytes[...])
    withUnsafeBytes(of: check.littleEndian) { output.append(contentsOf: $0) }
    output.append(contentsOf: bytes)
  }

  private static func check(_ head: ArraySlice<UInt8>, _ bytes: ArraySlice<UInt8>) -> UInt64 {
    head.withUnsafeBytes { head in bytes.withUnsafeBytes { SegmentDigest.key(head, $0, seed: extentMark) } }
  }

  // MARK: Reading

  /// Returns all valid records in these bytes, and skips everything else. A process that was killed may leave a gap, and after
  /// the gap there may be records from an earlier use of this half.
  static func all(in bytes: [UInt8]) -> [LedgerRecord] {
    var found: [LedgerRecord] = []
    var place = 0
    while place + unit <= bytes.count {
      let (record, size) = read(bytes, at: place) ?? (nil, unit)
      if let record { found.append(record) }
      place += size
    }
    return found
  }

  private static func read(_ bytes: [UInt8], at place: Int) -> (LedgerRecord?, size: Int)? {
    let numbers = bytes[place..<place + unit].withUnsafeBytes { head in
      (0..<8).map { UInt64(littleEndian: head.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)) }
    }
    guard (extentMark...tagsMark).contains(numbers[0]) else { return nil }
    let size = numbers[0] == extentMark ? 0 : Int(clamping: numbers[3])
    let start = place + unit
    guard size <= bytes.count - start, size % unit == 0 else { return nil }
    let rest = bytes[start..<start + size]
    guard check(bytes[place..<start - 8], rest) == numbers[7] else { return nil }
    let number = Int64(bitPattern: numbers[2])
    if numbers[0] == extentMark {
      let segment = SegmentRecord(offset: numbers[3], length: numbers[4], digest: numbers[5], sequence: 0)
      guard SegmentTable.isValid(segment) else { return nil }
      return (LedgerRecord(number: number, sequence: numbers[1], content: .extent(segment)), unit)
    }
    var reader = ByteReader(rest: rest)
    let content = numbers[0] == birthMark ? birth(rest, number) : tags(&reader).map { Content.tags($0) }
    return (content.map { LedgerRecord(number: number, sequence: numbers[1], content: $0) }, unit + size)
  }

  private static func tags(_ reader: inout ByteReader) -> [TagRecord]? {
    guard let count = reader.number(), count <= 1 + TagRecord.aliasLimit else { return nil }
    var tags: [TagRecord] = []
    for _ in 0..<count {
      guard let tag = reader.string(), let limit = reader.number() else { return nil }
      tags.append(TagRecord(tag: Array(tag), limit: limit))
    }
    return tags
  }

  private static func birth(_ bytes: ArraySlice<UInt8>, _ number: Int64) -> Content? {
    var reader = ByteReader(rest: bytes)
    return birth(&reader, number).map { .birth($0.row, $0.tags) }
  }

  /// Reads what ``append(_:_:to:)`` wrote.
  static func birth(_ reader: inout ByteReader, _ number: Int64) -> (row: ObjectRow, tags: [TagRecord])? {
    guard let id = reader.string().flatMap({ ObjectID(bytes: Array($0)) }), let hash = reader.number(),
      let key = reader.string(),
      let kind = reader.number().flatMap({ ObjectRow.Kind(rawValue: Int64(bitPattern: $0)) }),
      let owner = reader.string(), let head = reader.string(), let total = reader.number(),
      let storedAt = reader.number(), let lastUsed = reader.number(), let expires = reader.number(),
      let tags = tags(&reader)
    else { return nil }
    let ends = Int64(bitPattern: expires)
    let row = ObjectRow(
      number: number, id: id, keyHash: hash, key: Array(key), kind: kind, owner: kind == .shared ? nil : Array(owner),
      head: Array(head), total: total == .max ? nil : total, isComplete: false, held: 0, synced: 0, isSuspect: false,
      storedAt: Int64(bitPattern: storedAt), supersededAt: nil, lastUsed: Int64(bitPattern: lastUsed), uses: 0,
      expires: ends == .max ? nil : ends)
    return (row, tags)
  }
}
