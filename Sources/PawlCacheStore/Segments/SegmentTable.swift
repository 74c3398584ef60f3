/// A range of bytes within one MiB of the body, and their hash when they were written.
package struct SegmentRecord: Hashable, Sendable {
  var offset: UInt64
  /// The length in bytes, 1 to ``SegmentTable/span``.
  var length: UInt64
  /// The XXH3-64 of the bytes.
  var digest: UInt64
  /// The number of the recording that wrote this record. Each time when changes of a body are recorded, that is one recording,
  /// with the next number. If the number is not higher than the object's `synced`, the bytes are on the disk.
  var sequence: UInt64

  var end: UInt64 { offset + length }
  var range: Range<UInt64> { offset..<end }
}

/// The segments of a body that are closed, ascending and disjoint.
struct SegmentTable: Sendable {
  /// A segment never crosses a multiple of this many bytes.
  static let span: UInt64 = 1 << 20

  private(set) var records: [SegmentRecord] = []

  /// Adds a segment; refuses one that is empty, crosses a border, lies beyond 2^62 or overlaps another.
  mutating func insert(_ record: SegmentRecord) -> Bool {
    guard Self.isValid(record) else { return false }
    let index = firstIndex { $0.offset >= record.offset }
    if index < records.count, records[index].offset < record.end { return false }
    if index > 0, records[index - 1].end > record.offset { return false }
    records.insert(record, at: index)
    return true
  }

  mutating func remove(_ record: SegmentRecord) {
    let index = firstIndex { $0.offset >= record.offset }
    if index < records.count, records[index].offset == record.offset { records.remove(at: index) }
  }

  /// The segment that contains the byte at `position`.
  func segment(at position: UInt64) -> SegmentRecord? {
    let index = firstIndex { $0.end > position }
    guard index < records.count, records[index].offset <= position else { return nil }
    return records[index]
  }

  /// The first segment that begins after `position`.
  func next(after position: UInt64) -> SegmentRecord? {
    let index = firstIndex { $0.offset > position }
    return index < records.count ? records[index] : nil
  }

  static func isValid(_ record: SegmentRecord) -> Bool {
    record.offset < 1 << 62 && record.length > 0 && record.length <= span
      && record.offset / span == (record.offset + record.length - 1) / span
  }

  /// Returns the end of the MiB that contains `position`.
  static func border(after position: UInt64) -> UInt64 { (position / span + 1) * span }

  private func firstIndex(where isBeyond: (SegmentRecord) -> Bool) -> Int {
    var (low, high) = (0, records.count)
    while low < high {
      let middle = low + (high - low) / 2
      if isBeyond(records[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// A segment that still grows. One writer at a time uses it. While a writer does, the segment is not in the body's list.
final class OpenSegment {
  let start: UInt64
  private(set) var end: UInt64
  /// The end of the bytes that the catalogue has recorded.
  var recordedEnd: UInt64
  private let digest = SegmentDigest()

  init(start: UInt64) { (self.start, end, recordedEnd) = (start, start, start) }

  /// Whether a byte at `position` is the next byte of this segment.
  func continues(at position: UInt64) -> Bool { position == end && end < SegmentTable.border(after: start) }
  var isFull: Bool { end == SegmentTable.border(after: start) }

  func append(_ bytes: UnsafeRawBufferPointer) {
    digest.update(bytes)
    end += UInt64(bytes.count)
  }

  func record(sequence: UInt64) -> SegmentRecord {
    SegmentRecord(offset: start, length: end - start, digest: digest.value, sequence: sequence)
  }
}
