/// Compares content that is fetched again from byte zero (a replay) with the digests of a body's segments, held or lost. If all
/// digests agree, the content is the body's content.
package final class ReplayProof {
  private let records: [SegmentRecord]
  /// The index of the record that is compared now.
  private var index = 0
  /// The number of bytes that were compared so far.
  private var position: UInt64 = 0
  private var digest = SegmentDigest()
  /// The end of the bytes that can be compared: every byte from zero up to here has a digest.
  package let end: UInt64

  init(_ records: [SegmentRecord]) {
    let gap = records.indices.first { records[$0].offset != ($0 == 0 ? 0 : records[$0 - 1].end) }
    self.records = Array(records[..<(gap ?? records.count)])
    end = self.records.last?.end ?? 0
  }

  /// Compares the next bytes. An offset of 0 starts the comparison again. Bytes that were already compared are skipped.
  /// - Returns: `false` if a segment is complete and its hash differs, or if there is a gap between the compared bytes and
  ///   `offset`.
  package func agrees(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
    if offset == 0 { restart() }
    guard index < records.count else { return true }
    guard offset <= position else { return false }
    var rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Int(min(position - offset, UInt64(bytes.count)))))
    while !rest.isEmpty, index < records.count {
      let record = records[index]
      let count = Int(min(UInt64(rest.count), record.end - position))
      digest.update(UnsafeRawBufferPointer(rebasing: rest[..<count]))
      position += UInt64(count)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      guard position == record.end else { break }
      guard digest.value == record.digest else { return false }
      index += 1
      digest = SegmentDigest()
    }
    return true
  }

  private func restart() { (index, position, digest) = (0, 0, SegmentDigest()) }
}

extension StoredBody {
  /// Makes the object that compares a replay with this body.
  package func replayProof() -> ReplayProof {
    let records = state.withLock { state -> [SegmentRecord] in
      state.closeAllSegments()
      return state.segments.records + state.lost.records
    }
    return ReplayProof(records.sorted { $0.offset < $1.offset })
  }
}
