/// What a `Range` field selects of a representation whose length is known (RFC 9110 §14.1.2, §14.2, §15.3.7).
package enum RangeSelection: Hashable, Sendable {
  /// Ignore the field: answer 200.
  case whole
  case single(ByteRange)
  /// Two or more that neither overlap nor lie close together, in the order asked for.
  case several([ByteRange])
  /// Answer 416.
  case unsatisfiable

  /// Ranges closer than this many bytes are sent as one: a part's head would cost as much as the gap.
  private static let worthlessGap: UInt64 = 80
  private static let toleratedOverlaps = 2

  /// - Parameters:
  ///   - length: of the whole representation, in bytes.
  ///   - maxRanges: the most elements that are honoured; more, or elements that ask for more than the whole or
  ///     overlap more than twice, select the whole (CVE-2011-3192).
  package init(_ field: RangeField, length: UInt64, maxRanges: Int) {
    guard field.specs.count <= maxRanges else {
      self = .whole
      return
    }
    guard length > 0 else {
      self = Self.ofNothing(field)
      return
    }
    let ranges = field.specs.compactMap { $0.selected(of: length) }
    switch ranges.count {
    case 0: self = .unsatisfiable
    case 1: self = .single(ranges[0])
    default: self = Self.several(ranges, of: length)
    }
  }

  /// A suffix of an empty representation is satisfiable, yet no 206 can express it.
  private static func ofNothing(_ field: RangeField) -> RangeSelection {
    let asksForSuffix = field.specs.contains {
      if case .suffix(let count) = $0 { count > 0 } else { false }
    }
    return asksForSuffix ? .whole : .unsatisfiable
  }

  private static func several(_ ranges: [ByteRange], of length: UInt64) -> RangeSelection {
    var left = length
    for range in ranges {
      guard range.count <= left else { return .whole }
      left -= range.count
    }
    guard let parts = coalesce(ranges) else { return .whole }
    return parts.count == 1 ? .single(parts[0]) : .several(parts)
  }

  /// Each joined run takes the place of its first member; `nil` when too many overlap.
  private static func coalesce(_ ranges: [ByteRange]) -> [ByteRange]? {
    var runs: [(range: ByteRange, place: Int)] = []
    var overlaps = 0
    for (place, range) in ranges.enumerated().sorted(by: { $0.element.first < $1.element.first }) {
      guard let run = runs.last, range.first < run.range.end || range.first - run.range.end < worthlessGap else {
        runs.append((range, place))
        continue
      }
      if range.first < run.range.end { overlaps += 1 }
      guard let joined = ByteRange(first: run.range.first, last: max(run.range.last, range.last)) else { return nil }
      runs[runs.count - 1] = (joined, min(run.place, place))
    }
    guard overlaps <= toleratedOverlaps else { return nil }
    return runs.sorted { $0.place < $1.place }.map(\.range)
  }
}
