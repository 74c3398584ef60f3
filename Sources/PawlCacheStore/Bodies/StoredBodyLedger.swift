import PawlCache

/// What is written down before readers see it.
extension StoredBody {
  /// Records how far these segments have come, and the object where the catalogue may not have it yet. Not of bytes that the origin's
  /// own validator names, which can be had again; nor of a body that comes as one: who has any of it has all, or the network has.
  /// - Returns: what is to be ended once the catalogue is told.
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

  /// Records all tags of this body, which the catalogue was told of.
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
