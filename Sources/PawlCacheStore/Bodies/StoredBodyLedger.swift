import PawlCache

/// Records in the ledger. They are written before readers get the bytes that they describe.
extension StoredBody {
  /// Records the present digests of these segments, and the row of the object if the catalogue may not have it yet.
  ///
  /// Does nothing if the origin's own validator is strong, because the bytes can then be fetched again. Also does nothing for a
  /// body that is written in one piece, because pawl sends all of it as soon as a reader gets any of it.
  /// - Returns: the write that the caller has to end (``Ledger/end(_:)``) when the catalogue has been notified; `nil` if nothing
  ///   was written.
  func noteInLedger(_ segments: [OpenSegment], _ run: Range<UInt64>, takesBirth: Bool = true) -> Ledger.Writing? {
    guard let ledger = core.ledger else { return nil }
    let found = state.withLock { state -> (row: ObjectRow, tags: [TagRecord])?? in
      guard state.isPublished, !state.hasStrongValidator,
        run.lowerBound > 0 || state.total.map({ run.upperBound < $0 }) ?? true
      else { return nil }
      defer { if takesBirth { state.birth = nil } }
      return .some(state.birth)
    }
    guard let birth = found else { return nil }
    let row = birth.map { LedgerRecord.bytes(of: $0.row, $0.tags) }
    let bytes = segments.count * LedgerRecord.unit + (row.map { $0.count + LedgerRecord.unit } ?? 0)
    return ledger.append(
      segments.count + (row == nil ? 0 : 1), bytes: bytes
    ) { sequence in
      var (output, sequence) = ([UInt8](), sequence)
      output.reserveCapacity(bytes)
      if let row {
        LedgerRecord.write(birth: row, of: number, sequence: sequence, to: &output)
        sequence += 1
      }
      for segment in segments {
        LedgerRecord.write(segment.record(sequence: 0), of: number, sequence: sequence, to: &output)
        sequence += 1
      }
      return output
    }
  }

  /// Records all tags of this body after they were submitted to the catalogue.
  func noteInLedger(_ tags: [TagRecord]) {
    guard let ledger = core.ledger, state.withLock({ $0.place.isFile }) else { return }
    let encoded = LedgerRecord.bytes(of: tags)
    let bytes = encoded.count + LedgerRecord.unit
    let writing = ledger.append(1, bytes: bytes) { sequence in
      var output: [UInt8] = []
      output.reserveCapacity(bytes)
      LedgerRecord.write(tags: encoded, of: number, sequence: sequence, to: &output)
      return output
    }
    if let writing { ledger.end(writing) }
  }
}
