/// The segments of a body whose bytes are lost and whose digests are known. What comes in their place counts only where it
/// hashes to the same. Never more than the body had segments; disjoint from what is held.
struct LostSegments {
  private var table = SegmentTable()
  /// Bytes of all of them.
  private(set) var bytes: UInt64 = 0
  /// What has come again of some, by their offsets; one that is being written to is not among them.
  private var begun: [UInt64: OpenSegment] = [:]
  /// Offsets of those that are being written to: by one writer each.
  private var written: Set<UInt64> = []

  var isEmpty: Bool { table.records.isEmpty }
  /// Ascending.
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

  /// Where the lost bytes end that begin at `position` and have no byte between them that is not lost.
  func contiguousEnd(from position: UInt64) -> UInt64 {
    var end = position
    while let record = table.segment(at: end) { end = record.end }
    return end
  }

  /// Parts what is to be written into runs of lost segments and the rest. Of a lost segment only what begins it, then or
  /// anew, or continues what has come of it, is taken, and from one writer at a time: the rest is left out.
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

  /// The writer is done with the run; what has come of its segment waits for the rest.
  mutating func giveBack(_ run: LostRun) {
    written.remove(run.record.offset)
    if table.segment(at: run.record.offset) == run.record { begun[run.record.offset] = run.segment }
  }

  /// The writer is done, and what came of the segment is of no use.
  mutating func drop(_ run: LostRun) {
    written.remove(run.record.offset)
    begun[run.record.offset] = nil
  }
}

/// Bytes that are written in the place of a lost segment, or of a part of it.
struct LostRun {
  let record: SegmentRecord
  let range: Range<UInt64>
  /// What has come of the segment before them.
  let segment: OpenSegment
}
