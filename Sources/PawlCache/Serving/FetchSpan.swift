/// The alignment of range fetches, in bytes. A fetch is not aligned where held bytes would be fetched twice.
package let fetchAlignment: UInt64 = 64 << 10

/// Returns the next run of missing bytes to fetch for a reader; `nil` when all wanted bytes are held or on their way.
///
/// The run starts at the first wanted byte that is neither held nor covered by `active`, rounded down to a multiple of
/// ``fetchAlignment``. It ends where the gap or the wanted range ends, rounded up in the same way. Rounding never covers bytes
/// that are held or on their way, nor goes beyond `total`. It adds less than 128 KiB to what the reader needs.
///
/// - Parameters:
///   - wanted: what the reader still needs, in bytes of the representation.
///   - active: spans that running fetches will deliver soon enough for this reader. If a fill is far behind the reader, the
///     caller leaves out the fill's span, or ends the span at the offset up to which the reader should wait for the fill.
///   - total: the length of the representation, when known.
package func fetchSpan(
  wanted: Range<UInt64>, held: HeldBytes, active: [Range<UInt64>], total: UInt64?
) -> Range<UInt64>? {
  let length = min(total ?? HeldBytes.limit, HeldBytes.limit)
  var covered = held
  for span in active { covered.insert(span) }
  guard let gap = covered.gaps(in: wanted.clamped(to: 0..<length)).first else { return nil }

  let before = covered.startOfHole(at: gap.lowerBound)
  let start = max(gap.lowerBound / fetchAlignment * fetchAlignment, before)
  let after = min(covered.nextHeld(after: gap.upperBound) ?? length, length)
  let aligned = (gap.upperBound + (fetchAlignment - 1)) / fetchAlignment * fetchAlignment
  return start..<min(aligned, after)
}

extension HeldBytes {
  /// The start of the hole in which the missing byte `offset` lies.
  fileprivate func startOfHole(at offset: UInt64) -> UInt64 {
    gaps(in: 0..<offset).last.flatMap { $0.upperBound == offset ? $0.lowerBound : nil } ?? offset
  }
}
