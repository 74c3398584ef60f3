/// The segments of a body whose bytes are lost and whose digests are known. Bytes that replace them are used only if their hash
/// is the same. No lost byte is held, and there are never more lost segments than the body had segments.
struct LostSegments {
  private var table = SegmentTable()
  /// The size of all of them in bytes.
  private(set) var bytes: UInt64 = 0
  /// The bytes of some lost segments that have come again, by the offset of the segment. Segments that are being written to are
  /// not among them.
  private var begun: [UInt64: OpenSegment] = [:]
  /// The offsets of the segments that are being written to, by one writer each.
  private var written: Set<UInt64> = []

  var isEmpty: Bool { table.records.isEmpty }
  /// The lost segments, in ascending order.
  var records: [SegmentRecord] { table.records }

  func segment(at position: UInt64) -> SegmentRecord? { table.segment(at: position) }

  func overlaps(_ range: Range<UInt64>) -> Bool {
    table.segment(at: range.lowerBound) != nil
      || table.next(after: range.lowerBound).map { $0.offset < range.upperBound } ?? false
  }

  mutating func insert(_ record: SegmentRecord) {
    if table.insert(record) { bytes += record.length }
  }

  mutating func remove(_ record: SegmentRecord) {
    guard table.segment(at: record.offset) == record else { return }
    table.remove(record)
    begun[record.offset] = nil
    bytes -= record.length
  }

  /// Returns the end of the contiguous lost bytes that begin at `position`.
  func contiguousEnd(from position: UInt64) -> UInt64 {
    var end = position
    while let record = table.segment(at: end) { end = record.end }
    return end
  }

  /// Splits ranges that are to be written into runs of lost segments and the rest. A write into a lost segment is accepted only
  /// at the segment's beginning (also a second time), or at the end of the bytes that have come so far, and only from one writer
  /// at a time. Other writes into the segment are left out.
  mutating func split(_ gaps: [Range<UInt64>]) -> (lost: [LostRun], others: [Range<UInt64>]) {
    var (runs, others): ([LostRun], [Range<UInt64>]) = ([], [])
    for gap in gaps {
      var position = gap.lowerBound
      while position < gap.upperBound {
        if let record = table.segment(at: position) {
          let end = min(record.end, gap.upperBound)
          if let segment = take(record, at: position) {
            runs.append(LostRun(record: record, range: position..<end, segment: segment))
          }
          position = end
        } else {
          let end = min(table.next(after: position)?.offset ?? .max, gap.upperBound)
          others.append(position..<end)
          position = end
        }
      }
    }
    return (runs, others)
  }

  private mutating func take(_ record: SegmentRecord, at position: UInt64) -> OpenSegment? {
    guard !written.contains(record.offset) else { return nil }
    let known = begun.removeValue(forKey: record.offset)
    if position == record.offset {
      written.insert(record.offset)
      return OpenSegment(start: position)
    }
    guard let known, known.end == position else {
      begun[record.offset] = known
      return nil
    }
    written.insert(record.offset)
    return known
  }

  /// Ends a write. The bytes of the segment that have come are kept until the rest comes.
  mutating func giveBack(_ run: LostRun) {
    written.remove(run.record.offset)
    if table.segment(at: run.record.offset) == run.record { begun[run.record.offset] = run.segment }
  }

  /// Ends a write, and drops the bytes of the segment that have come.
  mutating func drop(_ run: LostRun) {
    written.remove(run.record.offset)
    begun[run.record.offset] = nil
  }
}

/// A range of bytes that replaces a lost segment or a part of it.
struct LostRun {
  let record: SegmentRecord
  let range: Range<UInt64>
  /// The bytes of the segment that have come before this range.
  let segment: OpenSegment
}
