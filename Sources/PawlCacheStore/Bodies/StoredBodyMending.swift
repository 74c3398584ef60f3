package import PawlCache
import PawlDisk

/// Mending: bytes that were held and are damaged or missing are written again.
extension StoredBody {
  /// The contiguous range of lost segments that begins with the segment at `position`, in bytes; `nil` if the byte there is not
  /// lost.
  package func lostRun(at position: UInt64) -> Range<UInt64>? {
    state.withLock { state in
      guard let record = state.lost.segment(at: position) else { return nil }
      return record.offset..<state.lost.contiguousEnd(from: position)
    }
  }

  /// The bytes that are held or lost. A fetch of missing bytes leaves them out, because lost bytes are fetched separately.
  package var known: HeldBytes { state.withLock { $0.provable } }

  /// Widens `span` to complete lost segments at its beginning and end, because a part of a segment cannot be compared with the
  /// digest.
  package func wideningToSegments(_ span: Range<UInt64>) -> Range<UInt64> {
    state.withLock { state in
      guard !state.lost.isEmpty, !span.isEmpty else { return span }
      let first = state.lost.segment(at: span.lowerBound)?.offset ?? span.lowerBound
      let end = state.lost.segment(at: span.upperBound - 1)?.end ?? span.upperBound
      return first..<end
    }
  }

  /// The end of the last lost segment that begins below `end`, in bytes; `nil` if there is none.
  package func lastLost(below end: UInt64) -> UInt64? {
    state.withLock { $0.lost.records.last { $0.offset < end }?.end }
  }

  /// The number of lost bytes that can be proven by their digests.
  package var lostCount: UInt64 { state.withLock { $0.lost.bytes } }

  /// Whether all missing bytes can be proven by their digests when they come again.
  package var isProvable: Bool {
    state.withLock { state in
      guard let total = state.total, state.failure == nil, state.window == nil else { return false }
      return state.occupied == total
    }
  }

  /// Writes bytes that replace lost segments. A segment that has all its bytes again is held again if its digest is the recorded
  /// one.
  /// - Throws: ``StoreError/differs`` if the digest differs.
  func writeLost(
    _ runs: [LostRun], of bytes: UnsafeRawBufferPointer, at offset: UInt64, _ descriptor: BodyDescriptor
  ) throws(StoreError) {
    for (index, run) in runs.enumerated() {
      do throws(StoreError) {
        let piece = UnsafeRawBufferPointer(
          rebasing: bytes[Int(run.range.lowerBound - offset)..<Int(run.range.upperBound - offset)])
        try Files.writeAll(descriptor.raw, piece, at: run.range.lowerBound)
        run.segment.append(piece)
        try compare(run)
      } catch {
        state.withLock { state in
          for left in runs[index...] {
            state.lost.drop(left)
            state.claims.removeAll { $0 == left.range }
          }
        }
        throw error
      }
    }
  }

  private func compare(_ run: LostRun) throws(StoreError) {
    let second = core.clock.now().seconds
    let outcome = try state.withLock { (state) throws(StoreError) -> (news: News, told: Range<UInt64>?)? in
      guard run.segment.end == run.record.end else {
        state.claims.removeAll { $0 == run.range }
        state.lost.giveBack(run)
        return nil
      }
      guard run.segment.record(sequence: 0).digest == run.record.digest else { throw .differs }
      state.claims.removeAll { $0 == run.range }
      state.warmth.note(run.record.range, at: second)
      let told = state.mended?.upperBound == run.record.offset ? nil : state.takeMended()
      state.mend(run)
      return (state.takeNews(), told)
    }
    guard let outcome else { return }
    if let told = outcome.told { logMended(told) }
    announce(outcome.news)
    wake()
  }

  /// Logs the range that was mended since the last call, if there is one.
  func logMendedRange() {
    guard let range = state.withLock({ $0.takeMended() }) else { return }
    logMended(range)
  }

  private func logMended(_ range: Range<UInt64>) {
    core.failures.log(
      .notice, "body-mended", of: "mended", atMost: FailureLog.few,
      ["body": id.hex, "at": "\(range.lowerBound)", "bytes": "\(range.upperBound - range.lowerBound)"])
  }
}

extension BodyState {
  /// Marks a segment as held and verified again, and has it recorded like a new one.
  fileprivate mutating func mend(_ run: LostRun) {
    lost.drop(run)
    lost.remove(run.record)
    var record = run.record
    record.sequence = 0
    guard segments.insert(record) else { return }
    unrecorded.append(record)
    held.insert(record.range)
    verified.insert(record.range)
    heldCount += record.length
    unrecordedBytes += record.length
    unsyncedBytes += record.length
    mended = (mended?.lowerBound ?? record.offset)..<record.end
  }

  fileprivate mutating func takeMended() -> Range<UInt64>? {
    defer { mended = nil }
    return mended
  }
}
