/// Range fetches begin and end on multiples of this many bytes, where nothing is held that would be fetched twice.
package let fetchAlignment: UInt64 = 64 << 10

/// The next missing run to ask the origin for on behalf of a reader; `nil` when everything wanted is held or on its way.
///
/// The run starts at the first wanted byte that is neither held nor covered by `active`, moved down to a multiple of
/// ``fetchAlignment``, and ends where the gap ends or what is wanted ends, moved up likewise; neither end moves over bytes
/// that are held or on their way, nor beyond `total`. So less than two times 64 KiB are fetched that nobody asked for.
///
/// - Parameters:
///   - wanted: what the reader still needs, in bytes of the representation.
///   - active: spans that running fetches will deliver soon enough for this reader. A fill far behind the reader
///     is left out by the caller, or ends at the offset up to which waiting for it is worth while.
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
  /// Where the hole begins in which the missing byte `offset` lies.
  fileprivate func startOfHole(at offset: UInt64) -> UInt64 {
    gaps(in: 0..<offset).last.flatMap { $0.upperBound == offset ? $0.lowerBound : nil } ?? offset
  }
}
