import PawlDisk
import PawlHTTP

@testable import PawlCache
@testable import PawlCacheStore
@testable import PawlUploadStore

extension FuzzTarget {
  /// Rows and records on disk. Their checksums are made right before they are read, so that what lies behind them is tried.
  static let records = [
    FuzzTarget(name: "stored-head", run: storedHead), FuzzTarget(name: "pack-record", run: packRecord),
    FuzzTarget(name: "ledger", run: ledger), FuzzTarget(name: "upload-row", run: uploadRow),
    FuzzTarget(name: "lent-message", run: lentMessage),
  ]

  @Sendable private static func storedHead(_ bytes: [UInt8]) {
    guard let head = StoredHead(serialized: bytes) else { return }
    if head.serialize() != bytes { breach("a stored head, written again, differs") }
    _ = Reuse.decide(head, asked: Fields(), policy: CachePolicy(), now: 1_700_000_000)
  }

  private static let seed: UInt64 = 4711

  @Sendable private static func packRecord(_ bytes: [UInt8]) {
    var bytes = bytes
    if bytes.count >= PackRecord.unit {
      repair(&bytes)
      bytes.withUnsafeBytes { check($0) }
    }
    let list = PackList.read(bytes, of: 1, seed: seed)
    if let list, PackList.read(PackList.bytes(list, seed: seed), of: 1, seed: seed)?.entries.count != list.entries.count
    {
      breach("a list, read again, differs")
    }
  }

  /// Writes mark, sizes and checksum of a record that holds all of these bytes: the first byte says how much of them is metadata.
  private static func repair(_ bytes: inout [UInt8]) {
    let unit = PackRecord.unit
    let units = bytes.count / unit - 1
    let meta = units == 0 ? 0 : Int(bytes[unit - 1]) % (units + 1)
    let content = (units - meta) * unit
    bytes.removeLast(bytes.count % unit)
    let numbers: [UInt64] = [
      0x7061_776c_7061_636b, 1, UInt64(meta * unit) << 32 | UInt64(bytes.count), UInt64(content), 7,
    ]
    for (index, number) in numbers.enumerated() {
      withUnsafeBytes(of: number.littleEndian) { bytes.replaceSubrange(index * 8..<index * 8 + 8, with: $0) }
    }
    let check = bytes.withUnsafeBytes { bytes -> UInt64 in
      guard let head = PackRecord.Head(bytes) else { breach("a head that was made is not read") }
      return head.check(of: UnsafeRawBufferPointer(rebasing: bytes[unit..<unit + meta * unit]), seed: seed)
    }
    withUnsafeBytes(of: check.littleEndian) { bytes.replaceSubrange(56..<64, with: $0) }
  }

  private static func check(_ bytes: UnsafeRawBufferPointer) {
    let (authority, target) = (Array("shop.test".utf8), Array("/a".utf8))
    authority.withUnsafeBytes { authority in
      target.withUnsafeBytes { target in
        guard let hit = PackedHit(bytes, authority: authority, target: target, seed: seed) else { return }
        if hit.contentStart + hit.count > bytes.count { breach("content behind the record") }
      }
    }
    guard let record = PackRecord(bytes, seed: seed) else { return }
    if record.content.upperBound > bytes.count { breach("content behind the record") }
    _ = record.isIntact(bytes)
    guard
      let again = PackRecord.bytes(
        of: record.row, record.tags, revision: record.revision, answer: record.answer,
        content: UnsafeRawBufferPointer(rebasing: bytes[record.content]), digest: record.digest, seed: seed)
    else { return }
    let second = again.withUnsafeBytes { PackRecord($0, seed: seed) }
    if second.map({ "\($0.row)" }) != "\(record.row)" || second?.tags != record.tags {
      breach("a record, read again, differs")
    }
  }

  /// Records of the ledger: each piece of the input is the data of one.
  @Sendable private static func ledger(_ bytes: [UInt8]) {
    var output: [UInt8] = []
    var input = FuzzInput(bytes)
    let kind = input.number(below: 3)
    let data = input.text + repeatElement(0, count: (64 - input.text.count % 64) % 64)
    switch kind {
    case 0: output = input.text
    case 1: LedgerRecord.write(birth: data, of: 1, sequence: 2, to: &output)
    default: LedgerRecord.write(tags: data, of: 1, sequence: 2, to: &output)
    }
    for record in LedgerRecord.all(in: output) {
      switch record.content {
      case .extent(let segment): if !SegmentTable.isValid(segment) { breach("an invalid segment") }
      case .birth(let row, let tags):
        var again: [UInt8] = []
        LedgerRecord.write(birth: LedgerRecord.bytes(of: row, tags), of: 1, sequence: 2, to: &again)
        guard case .birth(let second, let other)? = LedgerRecord.all(in: again).first?.content else {
          breach("a row that was written is not read")
        }
        if "\(second)" != "\(row)" || other != tags { breach("a row, read again, differs") }
      case .tags(let tags): if tags.count > 1 + TagRecord.aliasLimit { breach("\(tags.count) tags") }
      }
    }
  }

  @Sendable private static func uploadRow(_ bytes: [UInt8]) {
    if let origin = UploadOrigin(serialized: bytes) {
      guard let again = UploadOrigin(serialized: origin.serialize()) else { breach("a row is not read again") }
      if again.serialize() != origin.serialize() { breach("a row, written again, differs") }
    }
    if let fields = FieldsCoding.fields(bytes), FieldsCoding.serialize(fields) != bytes { breach("fields differ") }
  }

  @Sendable private static func lentMessage(_ bytes: [UInt8]) {
    if let message = LentMessage(serialized: bytes) {
      guard LentMessage(serialized: message.serialize()) == message else { breach("a message, read again, differs") }
    }
    if let list = LentMessage.list(bytes), LentMessage.list(LentMessage.serialize(list: list)) != list {
      breach("a list, read again, differs")
    }
  }
}
