extension [UInt8] {
  /// Appends a number in decimal digits, without an intermediate string.
  package mutating func append(decimal value: UInt64) {
    if value >= 10 { append(decimal: value / 10) }
    append(UInt8(truncatingIfNeeded: 0x30 + value % 10))
  }

  /// Appends a number like ``append(decimal:)``, with leading zeros so that it has at least `width` digits.
  package mutating func append(decimal value: UInt64, width: Int) {
    if value >= 10 || width > 1 { append(decimal: value / 10, width: width - 1) }
    append(UInt8(truncatingIfNeeded: 0x30 + value % 10))
  }
}

extension Span<UInt8> {
  /// Reads the decimal number in `range`. Leading zeros are allowed (`1*DIGIT`, RFC 9110 §8.6).
  /// - Returns: `nil` if the range is empty or has a character that is no digit, or if the number is above `limit`.
  @inlinable
  package func decimal(_ range: Range<Int>, atMost limit: UInt64 = .max) -> UInt64? {
    guard !range.isEmpty else { return nil }
    var value: UInt64 = 0
    for at in range {
      let digit = self[at] &- 0x30
      guard digit <= 9 else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
      guard !overflow, !carry, sum <= limit else { return nil }
      value = sum
    }
    return value
  }
}
