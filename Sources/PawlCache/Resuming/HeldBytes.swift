/// The set of bytes that are held of one representation: disjoint, non-adjacent, non-empty runs over `[0, 2^63)`, in ascending
/// order. Larger offsets are cut off, so that no arithmetic here can overflow.
package struct HeldBytes: Hashable, Sendable {
  /// One past the largest offset that can be held.
  package static let limit: UInt64 = 1 << 63

  /// The runs, ascending.
  package private(set) var intervals: [Range<UInt64>]

  package init() { intervals = [] }

  /// The union of any ranges, in any order.
  package init(_ ranges: some Sequence<Range<UInt64>>) {
    intervals = []
    for range in ranges { insert(range) }
  }

  package var isEmpty: Bool { intervals.isEmpty }

  /// How many bytes are held in all.
  package var count: UInt64 { intervals.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

  /// How many bytes are held from 0 on, without a hole.
  package var prefix: UInt64 { contiguousEnd(from: 0) }

  /// Adds a run. If it continues the last run, as in a fill, this costs only a comparison.
  package mutating func insert(_ range: Range<UInt64>) {
    let added = range.clamped(to: 0..<Self.limit)
    guard !added.isEmpty else { return }
    if let last = intervals.last, added.lowerBound >= last.lowerBound {
      if added.lowerBound > last.upperBound {
        intervals.append(added)
      } else if added.upperBound > last.upperBound {
        intervals[intervals.count - 1] = last.lowerBound..<added.upperBound
      }
      return
    }
    // Runs that overlap or touch the new one are joined with it.
    let first = firstIndex { $0.upperBound >= added.lowerBound }
    let end = firstIndex { $0.lowerBound > added.upperBound }
    guard first < end else { return intervals.insert(added, at: first) }
    let lower = min(added.lowerBound, intervals[first].lowerBound)
    let upper = max(added.upperBound, intervals[end - 1].upperBound)
    intervals.replaceSubrange(first..<end, with: CollectionOfOne(lower..<upper))
  }

  /// Removes a run, for example when a digest on disk does not match.
  package mutating func remove(_ range: Range<UInt64>) {
    guard !range.isEmpty else { return }
    let first = firstIndex { $0.upperBound > range.lowerBound }
    let end = firstIndex { $0.lowerBound >= range.upperBound }
    guard first < end else { return }
    var kept: [Range<UInt64>] = []
    let (head, tail) = (intervals[first], intervals[end - 1])
    if head.lowerBound < range.lowerBound { kept.append(head.lowerBound..<range.lowerBound) }
    if tail.upperBound > range.upperBound { kept.append(range.upperBound..<tail.upperBound) }
    intervals.replaceSubrange(first..<end, with: kept)
  }

  /// Whether every byte of `range` is held; true for an empty range.
  package func contains(_ range: Range<UInt64>) -> Bool {
    range.isEmpty || contiguousEnd(from: range.lowerBound) >= range.upperBound
  }

  /// The end of the run that holds `offset`; `offset` itself when that byte is missing.
  package func contiguousEnd(from offset: UInt64) -> UInt64 {
    guard let run = run(at: offset) else { return offset }
    return run.upperBound
  }

  /// The start of the run that holds the byte before `offset`; `offset` itself when that byte is missing.
  package func contiguousStart(before offset: UInt64) -> UInt64 {
    guard offset > 0, let run = run(at: offset - 1) else { return offset }
    return run.lowerBound
  }

  /// The first held byte at or after `offset`.
  package func nextHeld(after offset: UInt64) -> UInt64? {
    let index = firstIndex { $0.upperBound > offset }
    return index < intervals.count ? max(offset, intervals[index].lowerBound) : nil
  }

  /// The missing ranges inside `range`, in order.
  package func gaps(in range: Range<UInt64>) -> [Range<UInt64>] {
    var missing: [Range<UInt64>] = []
    var position = range.lowerBound
    var index = firstIndex { $0.upperBound > range.lowerBound }
    while position < range.upperBound, index < intervals.count, intervals[index].lowerBound < range.upperBound {
      if intervals[index].lowerBound > position { missing.append(position..<intervals[index].lowerBound) }
      position = intervals[index].upperBound
      index += 1
    }
    if position < range.upperBound { missing.append(position..<range.upperBound) }
    return missing
  }

  private func run(at offset: UInt64) -> Range<UInt64>? {
    let index = firstIndex { $0.upperBound > offset }
    guard index < intervals.count, intervals[index].lowerBound <= offset else { return nil }
    return intervals[index]
  }

  /// Finds the index of the first run for which `isBeyond` is true, by binary search. `isBeyond` must be true for all later runs,
  /// too.
  private func firstIndex(where isBeyond: (Range<UInt64>) -> Bool) -> Int {
    var (low, high) = (0, intervals.count)
    while low < high {
      let middle = low + (high - low) / 2
      if isBeyond(intervals[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
