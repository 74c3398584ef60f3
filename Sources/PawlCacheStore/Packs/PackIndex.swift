import CLinux
import PawlBase
import PawlCache
import PawlDisk

/// The entry of a record in the index in memory: two words.
struct PackEntry: Hashable, Sendable {
  let hash: UInt64
  let place: PackPlace
}

/// The contents of all packs, as found when pawl started.
struct PackInventory {
  var entries: [PackEntry] = []
  /// The highest number of an object in the packs.
  var lastNumber: Int64 = 0
  /// The size of the files in bytes.
  var size: UInt64 = 0
}

/// A list of the records in one pack, in a file beside it: 64 bytes of numbers, then 16 bytes for each record. It is written when
/// the pack is full. Without the list, pawl has to read all records one by one at the next start.
enum PackList {
  private static let mark: UInt64 = 0x7061_776c_0000_0103
  static let headSize = 64

  struct Content {
    var entries: [PackEntry]
    var lastNumber: Int64
    /// The offset at which the last record ends.
    var end: Int
  }

  static func bytes(_ content: Content, seed: UInt64) -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(content.entries.count * 16)
    for entry in content.entries {
      withUnsafeBytes(of: (entry.hash.littleEndian, entry.place.bits.littleEndian)) { body.append(contentsOf: $0) }
    }
    var head: [UInt8] = []
    head.append(number: mark)
    head.append(number: UInt64(content.entries.count))
    head.append(number: UInt64(bitPattern: content.lastNumber))
    head.append(number: UInt64(content.end))
    let check = head.withUnsafeBytes { head in body.withUnsafeBytes { SegmentDigest.key(head, $0, seed: seed) } }
    head.append(number: check)
    head.append(contentsOf: repeatElement(0, count: headSize - head.count))
    return head + body
  }

  /// Reads a list; `nil` if it was not made by ``bytes(_:seed:)``.
  static func read(_ bytes: [UInt8], of number: UInt32, seed: UInt64) -> Content? {
    var reader = ByteReader(rest: bytes.prefix(headSize))
    guard bytes.count >= headSize, reader.number() == mark, let count = reader.number(),
      let last = reader.number(), let end = reader.number(), let check = reader.number(),
      count <= UInt64(PackPlace.packLimit / PackPlace.unit), bytes.count == headSize + Int(count) * 16,
      end <= UInt64(PackPlace.packLimit)
    else { return nil }
    return bytes.withUnsafeBytes { bytes in
      let body = UnsafeRawBufferPointer(rebasing: bytes[headSize...])
      guard SegmentDigest.key(UnsafeRawBufferPointer(rebasing: bytes[..<32]), body, seed: seed) == check else {
        return nil
      }
      var entries: [PackEntry] = []
      entries.reserveCapacity(Int(count))
      for index in 0..<Int(count) {
        let hash = UInt64(littleEndian: body.loadUnaligned(fromByteOffset: index * 16, as: UInt64.self))
        let place = PackPlace(
          bits: UInt64(littleEndian: body.loadUnaligned(fromByteOffset: index * 16 + 8, as: UInt64.self)))
        guard place.pack == number else { return nil }
        entries.append(PackEntry(hash: hash, place: place))
      }
      return Content(entries: entries, lastNumber: Int64(bitPattern: last), end: Int(end))
    }
  }
}

/// Finds the records of a pack. Blocking.
private struct PackScan {
  private let pack: Pack
  private let end: Int
  private let seed: UInt64
  /// The bytes that were read last, and their offset.
  private var bytes: [UInt8] = []
  private var start = 0

  init(_ pack: Pack, through end: Int, seed: UInt64) { (self.pack, self.end, self.seed) = (pack, end, seed) }

  /// Returns the head of the record that begins at `position`; `nil` if none begins there.
  /// - Parameter isLost: whether the beginning of the next record is unknown.
  mutating func head(at position: Int, isLost: Bool) -> PackRecord.Head? {
    let ahead = isLost ? 64 << 10 : 2 << 10
    guard read(position, PackPlace.unit, ahead), let head = look(position, { PackRecord.Head($0) }),
      position + Int(head.size) <= end, read(position, PackPlace.unit + Int(head.metaSize), ahead)
    else { return nil }
    let check = look(position) { bytes in
      head.check(
        of: UnsafeRawBufferPointer(rebasing: bytes[PackPlace.unit..<PackPlace.unit + Int(head.metaSize)]), seed: seed)
    }
    return check == head.check ? head : nil
  }

  private func look<R>(_ position: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[(position - start)...])) }
  }

  private mutating func read(_ position: Int, _ count: Int, _ ahead: Int) -> Bool {
    if position >= start, position + count <= start + bytes.count { return true }
    guard case .bytes(let read) = pack.read(position, min(max(count, ahead), end - position), waits: true) else {
      return false
    }
    (bytes, start) = (read, position)
    return bytes.count >= count
  }
}

extension Packs {
  private static var indexSuffix: String { ".index" }
  func indexPath(of number: UInt32) -> String { path(of: number) + Self.indexSuffix }

  /// Calls `found` for each record of a pack whose checksum matches its head and metadata, and skips everything else. Blocking.
  /// - Parameter end: the offset at which to stop.
  /// - Returns: the offset at which the last record ends.
  func scan(_ pack: Pack, through end: Int, _ found: (PackRecord.Head, PackPlace) -> Void) -> Int {
    var scan = PackScan(pack, through: end, seed: seed)
    var (position, last) = (Pack.headSize, Pack.headSize)
    while position + PackPlace.unit <= end {
      guard let head = scan.head(at: position, isLost: position != last) else {
        position += PackPlace.unit
        continue
      }
      found(head, PackPlace(pack: pack.number, offset: position, size: Int(head.size)))
      position += Int(head.size)
      last = position
    }
    return last
  }

  /// Finds the live records of a pack by reading all of it. Blocking.
  private func content(of pack: Pack) -> PackList.Content {
    var content = PackList.Content(entries: [], lastNumber: 0, end: 0)
    content.end = scan(pack, through: pack.size) { head, place in
      content.lastNumber = max(content.lastNumber, head.number)
      if head.isLive { content.entries.append(PackEntry(hash: head.keyHash, place: place)) }
    }
    return content
  }

  /// Writes the list of a full pack. Blocking.
  func writeIndex(of pack: Pack) {
    let content = content(of: pack)
    // An incomplete list would hide the other records.
    guard content.end == pack.size, self.pack(pack.number) === pack else { return }
    let (path, bytes) = (indexPath(of: pack.number), PackList.bytes(content, seed: seed))
    do throws(StoreError) {
      let descriptor = try Files.open(path, O_WRONLY | O_CREAT | O_TRUNC)
      defer { CLinux.close(descriptor) }
      try Files.writeAll(descriptor, bytes[...], at: 0)
      // If the pack was removed meanwhile, its list must not be used for a later pack with the same number.
      if self.pack(pack.number) !== pack { try Files.unlink(path) }
    } catch {
      // A partial list is not used, because its checksum does not match.
      events.log(.debug, "pack-index-failed", ["path": path, "why": "\(error)"])
    }
  }

  // MARK: At the start

  /// Opens all packs and returns their contents; removes files that are not packs of this cache. Blocking.
  /// - Throws: if the directory cannot be made or read.
  func open() throws(StoreError) -> PackInventory {
    try Files.makeDirectories(directory)
    var inventory = PackInventory()
    var numbers: [UInt32] = []
    let names = Set(try Files.names(in: directory))
    for name in names {
      if name.utf8.count == 8, let number = UInt32(name, radix: 16), number > 0, number < PackPlace.numberLimit {
        numbers.append(number)
      } else if name.hasSuffix(Self.indexSuffix), !names.contains(String(name.dropLast(Self.indexSuffix.count))) {
        noteLoss("pack-dropped", "\(directory)/\(name.dropLast(Self.indexSuffix.count))", "its file is missing")
        // A later pack may get that number, and must not be read with this list.
        try Files.unlink("\(directory)/\(name)")
      }
    }
    for number in numbers.sorted() {
      skip(beyond: number)
      do throws(StoreError) {
        try open(number, into: &inventory)
      } catch {
        guard !error.isOfThisMoment else { throw error }
        events.log(.warning, "pack-dropped", ["path": path(of: number), "why": "\(error)"])
      }
    }
    return inventory
  }

  private func open(_ number: UInt32, into inventory: inout PackInventory) throws(StoreError) {
    let path = path(of: number)
    let descriptor = try Files.open(path, O_RDWR | O_NOFOLLOW)
    let size = try Files.size(descriptor, path)
    let pack = Pack(
      number: number, descriptor: descriptor, end: Int(clamping: min(size, UInt64(PackPlace.packLimit))), live: 0,
      isSealed: true, lastWritten: 0, pool: pool)
    guard case .bytes(let head) = pack.read(0, Pack.headSize, waits: true), PackHead.isOne(head, seed: seed),
      size > UInt64(Pack.headSize)
    else {
      if size > UInt64(Pack.headSize) { noteLoss("pack-dropped", path, "it is not of this catalogue, or damaged") }
      // If the file is not larger than its head, no record was written to it.
      try Files.unlink(indexPath(of: number))
      return try Files.unlink(path)
    }
    let list = try readIndex(of: number)
    if let end = list?.end, end > pack.size {
      noteLoss("pack-damaged", path, "\(end - pack.size) bytes are missing at its end")
    }
    let listed = list.flatMap { $0.end == pack.size ? $0 : nil }
    let content = listed ?? content(of: pack)
    let live = content.entries.reduce(0) { $0 + $1.place.size }
    guard live > 0 else {
      try Files.unlink(indexPath(of: number))
      return try Files.unlink(path)
    }
    pack.noteFound(live: live, lastWritten: Self.changed(descriptor), isCounted: listed == nil)
    adopt(pack)
    inventory.entries += content.entries
    inventory.lastNumber = max(inventory.lastNumber, content.lastNumber)
    inventory.size += size
  }

  private static func changed(_ descriptor: CInt) -> Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_mtim.tv_sec) : 0
  }

  private func readIndex(of number: UInt32) throws(StoreError) -> PackList.Content? {
    let path = indexPath(of: number)
    guard Files.exists(path) else { return nil }
    let descriptor = try Files.open(path, O_RDONLY | O_NOFOLLOW)
    defer { CLinux.close(descriptor) }
    let limit = PackList.headSize + PackPlace.packLimit / PackPlace.unit * 16
    let size = min(Int(clamping: try Files.size(descriptor, path)), limit)
    var bytes = [UInt8](repeating: 0, count: size)
    var outcome: Result<Int, StoreError> = .success(0)
    bytes.withUnsafeMutableBytes { buffer in
      outcome = Result { () throws(StoreError) in try Files.read(descriptor, buffer, at: 0) }
    }
    return try outcome.get() == size ? PackList.read(bytes, of: number, seed: seed) : nil
  }
}
