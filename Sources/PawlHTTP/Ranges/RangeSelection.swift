/// The part of a representation of known length that a `Range` field selects (RFC 9110 §14.1.2, §14.2, §15.3.7).
package enum RangeSelection: Hashable, Sendable {
  /// The field is ignored: 200.
  case whole
  case single(ByteRange)
  /// Two or more ranges that neither overlap nor are close together, in the order of the request.
  case several([ByteRange])
  /// 416.
  case unsatisfiable

  /// Ranges are joined if the gap between them is smaller than this many bytes: the head of another part would be as long as the
  /// gap.
  private static let worthlessGap: UInt64 = 80
  private static let toleratedOverlaps = 2

  /// - Parameters:
  ///   - length: the length of the complete representation, in bytes.
  ///   - maxRanges: the most elements that are served. The complete representation is selected if there are more, if the elements
  ///     are together longer than the representation, or if there are more than two overlaps (CVE-2011-3192).
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

  /// The selection of an empty representation. A suffix is satisfiable, but no 206 can express an empty range, so a 200 is sent.
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

  /// Joins ranges that overlap or are close; a joined range takes the position of the member that came first in the request.
  /// `nil` when too many overlap.
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
