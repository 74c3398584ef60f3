/// Holds a body that comes again, from its first byte on, against the digests of what was held: segment by segment, whether
/// its bytes are still there or lost. What agrees is the same body.
package final class ReplayProof {
  private let records: [SegmentRecord]
  /// Which record comes next, or is coming.
  private var index = 0
  /// How far it has come.
  private var position: UInt64 = 0
  private var digest = SegmentDigest()
  /// Up to here it can be proven: from 0 on there is a digest for every byte.
  package let end: UInt64

  init(_ records: [SegmentRecord]) {
    let gap = records.indices.first { records[$0].offset != ($0 == 0 ? 0 : records[$0 - 1].end) }
    self.records = Array(records[..<(gap ?? records.count)])
    end = self.records.last?.end ?? 0
  }

  /// Takes the next bytes, or the first ones anew; those that came before already are let pass, their segment decides.
  /// - Returns: `false` when a segment has ended that hashes to something else.
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
  /// What a body that comes again from its first byte on is held against.
  package func replayProof() -> ReplayProof {
    let records = state.withLock { state -> [SegmentRecord] in
      state.closeAllSegments()
      return state.segments.records + state.lost.records
    }
    return ReplayProof(records.sorted { $0.offset < $1.offset })
  }
}
