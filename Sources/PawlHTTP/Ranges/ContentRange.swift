import PawlBase

/// The `Content-Range` field (RFC 9110 §14.4), in bytes.
package enum ContentRange {
  package struct Satisfied: Hashable, Sendable {
    package var range: ByteRange
    /// The length of the representation; `nil` for `*`, when the sender does not know it.
    package var total: UInt64?

    package init(range: ByteRange, total: UInt64?) { (self.range, self.total) = (range, total) }
  }

  package enum Parsed: Hashable, Sendable {
    case satisfied(Satisfied)
    /// The form of a 416: `*` in place of the range. The total is `nil` when it is `*`, too.
    case unsatisfied(total: UInt64?)
  }

  /// `nil` when the value is malformed, has another unit, exceeds `UInt64` or contradicts itself: such a part must not be
  /// combined with other bytes.
  package static func parse(_ value: Bytes) -> Parsed? {
    var scanner = ByteScanner(value.trimmed)
    guard scanner.skip(ignoringCase: "bytes "), let slash = scanner.rest.firstIndex(of: 0x2f) else { return nil }
    let (range, length) = (scanner.rest[..<slash], scanner.rest[(slash + 1)...])
    let total = length.strictDecimal
    guard total != nil || length.equals("*") else { return nil }
    if range.equals("*") { return .unsatisfied(total: total) }
    guard let dash = range.firstIndex(of: 0x2d), let first = range[..<dash].strictDecimal,
      let last = range[(dash + 1)...].strictDecimal, let run = ByteRange(first: first, last: last)
    else { return nil }
    if let total, total <= last { return nil }
    return .satisfied(Satisfied(range: run, total: total))
  }

  /// `bytes 0-4/10`
  package static func format(_ range: ByteRange, total: UInt64) -> [UInt8] {
    var output: [UInt8] = []
    output.append("bytes " as StaticString)
    output.append(decimal: range.first)
    output.append(0x2d)
    output.append(decimal: range.last)
    output.append(0x2f)
    output.append(decimal: total)
    return output
  }

  /// `bytes */10`, for a 416.
  package static func unsatisfied(total: UInt64) -> [UInt8] {
    var output: [UInt8] = []
    output.append("bytes */" as StaticString)
    output.append(decimal: total)
    return output
  }
}
