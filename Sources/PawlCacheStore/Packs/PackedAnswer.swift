import CLinux
import PawlCache
import PawlDisk
import PawlLoop

/// The answer that the server has decided when an object was stored: the head of the response, and how long it is valid. With it,
/// the next simple request is answered without loading the object into memory. The answer depends on the settings, and is used
/// only while they are unchanged.
package struct PackedAnswer {
  /// The fingerprint of the route's settings by which the answer was decided.
  package var settings: UInt64
  /// When the answer becomes valid, until when it is valid, and when its `Age` was zero (wall clock, seconds).
  package var from: Int64, until: Int64, born: Int64
  /// Flags that the server sets and reads; they mean nothing here.
  package var flags: UInt64
  /// The bytes of the head, without the fields that change every second.
  package var head: [UInt8]

  package init(settings: UInt64, from: Int64, until: Int64, born: Int64, flags: UInt64, head: [UInt8]) {
    (self.settings, self.from, self.until, self.born) = (settings, from, until, born)
    (self.flags, self.head) = (flags, head)
  }

  static let fixedSize = 40

  var bytes: [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(Self.fixedSize + head.count)
    let numbers = (
      settings.littleEndian, UInt64(bitPattern: from).littleEndian, UInt64(bitPattern: until).littleEndian,
      UInt64(bitPattern: born).littleEndian, flags.littleEndian
    )
    withUnsafeBytes(of: numbers) { output.append(contentsOf: $0) }
    output.append(contentsOf: head)
    return output
  }
}

/// A buffer into which records are read, one after another. Belongs to one loop.
package final class PackRoom {
  /// The number of bytes at the beginning of a large record that are read first: usually everything that comes before its
  /// content.
  static let headSize = 2048

  let bytes: UnsafeMutableRawBufferPointer
  /// The last answer that was found in this buffer.
  package internal(set) var hit: PackedHit?

  package init() { bytes = .allocate(byteCount: PackPlace.recordLimit, alignment: 64) }
  deinit { bytes.deallocate() }
}

/// A record that was read, with the answer that was decided for it. Its bytes are valid until the next record is read into the
/// same buffer.
package struct PackedHit {
  /// The number of the object.
  let number: Int64
  /// The size of the content in bytes.
  package let count: Int
  /// The offset of the content in the record, and the XXH3 that it must have.
  let contentStart: Int
  let digest: UInt64
  package let settings: UInt64
  package let from: Int64, until: Int64, born: Int64
  package let flags: UInt64
  package let head: UnsafeRawBufferPointer
  /// The content, unless it is sent from the file.
  package var content = UnsafeRawBufferPointer(start: nil, count: 0)
  package var slice: FileSlice?

  /// Reads the beginning of a record; `nil` if it is not a live record with an answer under that key. The content is not checked.
  init?(
    _ bytes: UnsafeRawBufferPointer, authority: UnsafeRawBufferPointer, target: UnsafeRawBufferPointer, seed: UInt64
  ) {
    guard let record = PackRecord.Head(bytes), record.isLive,
      PackPlace.unit + Int(record.metaSize) <= bytes.count
    else { return nil }
    let meta = UnsafeRawBufferPointer(rebasing: bytes[PackPlace.unit..<PackPlace.unit + Int(record.metaSize)])
    guard record.check == record.check(of: meta, seed: seed), let answer = PackRecord.answer(in: meta),
      answer.count >= PackedAnswer.fixedSize, PackRecord.isCurrent(meta, behind: answer.count),
      PackRecord.isKey(authority, target, in: meta, behind: answer.count)
    else { return nil }
    (contentStart, count, digest) = (PackPlace.unit + meta.count, Int(record.contentSize), record.digest)
    func number(_ place: Int) -> UInt64 {
      UInt64(littleEndian: answer.loadUnaligned(fromByteOffset: place * 8, as: UInt64.self))
    }
    self.number = record.number
    settings = number(0)
    (from, until, born) = (Int64(bitPattern: number(1)), Int64(bitPattern: number(2)), Int64(bitPattern: number(3)))
    flags = number(4)
    head = UnsafeRawBufferPointer(rebasing: answer[PackedAnswer.fixedSize...])
  }

  /// The proof that content which is sent slowly from the file is still unchanged; `nil` for content in memory.
  package var proof: RecordProof? {
    (slice?.keeper as? Pack).map { $0.proof(slice?.base ?? 0, count, digest) }
  }
}

extension Pack {
  /// Returns the answer in a record under that key if the record is in the page cache and intact; else `nil`. On any loop.
  func hit(
    _ place: PackPlace, in room: PackRoom, authority: UnsafeRawBufferPointer, target: UnsafeRawBufferPointer,
    seed: UInt64, now: Monotonic
  ) -> PackedHit? {
    let isLarge = place.size > ProvenRecords.least
    let first = isLarge ? PackRoom.headSize : place.size
    guard var bytes = read(place.offset, first, into: room, at: 0) else { return nil }
    // The part before the content was not read completely, which is rare.
    if isLarge, let head = PackRecord.Head(bytes), head.front > first {
      guard let more = read(place.offset, head.front, into: room, at: 0) else { return nil }
      bytes = more
    }
    guard var hit = PackedHit(bytes, authority: authority, target: target, seed: seed) else { return nil }
    let (start, base) = (hit.contentStart, UInt64(place.offset + hit.contentStart))
    guard isLarge, hit.count >= ProvenRecords.least else {
      let isRead = start + hit.count <= bytes.count || read(Int(base), hit.count, into: room, at: start) != nil
      let content = UnsafeRawBufferPointer(rebasing: room.bytes[start..<start + hit.count])
      guard isRead, SegmentDigest.of(content) == hit.digest else { return nil }
      hit.content = content
      return hit
    }
    hit.slice = FileSlice(fd: descriptor, offset: base, count: hit.count, base: base, keeper: self)
    if hasProven(base, now: now) { return hit }
    // All content is read after the stamp was taken, because bytes that were read before may have changed since.
    let stamp = FileStamp(of: descriptor)
    guard let content = read(Int(base), hit.count, into: room, at: start), SegmentDigest.of(content) == hit.digest
    else {
      return nil
    }
    noteProven(base, now: now, stamp)
    return hit
  }

  private func read(_ offset: Int, _ count: Int, into room: PackRoom, at place: Int) -> UnsafeRawBufferPointer? {
    let target = UnsafeMutableRawBufferPointer(rebasing: room.bytes[place..<place + count])
    guard pawl_pread_nowait(descriptor, target.baseAddress, count, off_t(offset)) == count else { return nil }
    return UnsafeRawBufferPointer(target)
  }
}
