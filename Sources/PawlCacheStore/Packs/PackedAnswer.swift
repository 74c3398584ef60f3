import PawlCache
import PawlDisk

/// What the server has decided for an object when it was stored, so that it need not be brought into memory for the next request about
/// which nothing is special: the head of the answer, and how long it holds. It belongs to settings, and counts while they are the same.
package struct PackedAnswer {
  /// Of the settings that it was decided by.
  package var settings: UInt64
  /// Wall clock, seconds: from when on, until when, and what its `Age` counts from.
  package var from: Int64, until: Int64, born: Int64
  /// What else the server noted.
  package var flags: UInt64
  /// The octets of the head, up to the fields that change by the second.
  package var head: [UInt8]

  package init(settings: UInt64, from: Int64, until: Int64, born: Int64, flags: UInt64, head: [UInt8]) {
    (self.settings, self.from, self.until, self.born) = (settings, from, until, born)
    (self.flags, self.head) = (flags, head)
  }

  static let fixedSize = 40

  var octets: [UInt8] {
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

/// Room that records are read into, one after another. Of one loop.
package final class PackRoom {
  let octets: UnsafeMutableRawBufferPointer
  /// The last answer that was found here.
  package internal(set) var hit: PackedHit?

  package init() { octets = .allocate(byteCount: PackPlace.recordLimit, alignment: 64) }
  deinit { octets.deallocate() }
}

/// A record as it was read, with the answer that was decided for it. Its octets hold until the next one is read into the same room.
package struct PackedHit {
  /// Of the object.
  let number: Int64
  package let settings: UInt64
  package let from: Int64, until: Int64, born: Int64
  package let flags: UInt64
  package let head: UnsafeRawBufferPointer
  package let content: UnsafeRawBufferPointer

  /// `nil` where the octets are not such a record under that key, whole and right.
  init?(
    _ octets: UnsafeRawBufferPointer, authority: UnsafeRawBufferPointer, target: UnsafeRawBufferPointer, seed: UInt64
  ) {
    guard let record = PackRecord.Head(octets), record.isLive, Int(record.size) == octets.count else { return nil }
    let meta = UnsafeRawBufferPointer(rebasing: octets[PackPlace.unit..<PackPlace.unit + Int(record.metaSize)])
    guard record.check == record.check(of: meta, seed: seed), let answer = PackRecord.answer(in: meta),
      answer.count >= PackedAnswer.fixedSize, PackRecord.isCurrent(meta, behind: answer.count),
      PackRecord.isKey(authority, target, in: meta, behind: answer.count)
    else { return nil }
    let start = PackPlace.unit + meta.count
    content = UnsafeRawBufferPointer(rebasing: octets[start..<start + Int(record.contentSize)])
    guard SegmentDigest.of(content) == record.digest else { return nil }
    func number(_ place: Int) -> UInt64 {
      UInt64(littleEndian: answer.loadUnaligned(fromByteOffset: place * 8, as: UInt64.self))
    }
    self.number = record.number
    settings = number(0)
    (from, until, born) = (Int64(bitPattern: number(1)), Int64(bitPattern: number(2)), Int64(bitPattern: number(3)))
    flags = number(4)
    head = UnsafeRawBufferPointer(rebasing: answer[PackedAnswer.fixedSize...])
  }
}
