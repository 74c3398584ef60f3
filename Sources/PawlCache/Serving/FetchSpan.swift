/// The alignment of range fetches, in bytes, unless held bytes would be fetched twice.
package let fetchAlignment: UInt64 = 64 << 10

/// The next missing run to fetch for a reader; `nil` when everything wanted is held or on its way.
///
/// The run starts at the first wanted byte that is neither held nor covered by `active`, rounded down to a multiple of
/// ``fetchAlignment``. It ends where the gap or the wanted range ends, rounded up in the same way. Rounding never covers bytes
/// that are held or on their way, nor goes beyond `total`. So less than two times 64 KiB are fetched that no reader needs.
///
/// - Parameters:
///   - wanted: what the reader still needs, in bytes of the representation.
///   - active: spans that running fetches will deliver soon enough for this reader. The caller leaves out a fill that is far
///     behind the reader, or ends its span at the offset up to which waiting for it is worth while.
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
  /// The start of the hole that the missing byte `offset` lies in.
  fileprivate func startOfHole(at offset: UInt64) -> UInt64 {
    gaps(in: 0..<offset).last.flatMap { $0.upperBound == offset ? $0.lowerBound : nil } ?? offset
  }
}
