/// The `Age` field (RFC 9111 §5.1).
package enum Age {
  /// The age in seconds, at most 2^31: the first of several values, 0 when absent or not a number.
  package static func parse(_ fields: Fields) -> Int64 {
    guard let line = fields.first(.age), let value = line.prefix(while: { $0 != 0x2c }).trimmed.saturatedDecimal else {
      return 0
    }
    return min(Int64(value), CacheControl.longest)
  }
}

extension Bytes {
  /// The value of digits, at most `Int64.max`; `nil` when there is any other byte.
  fileprivate var saturatedDecimal: UInt64? {
    var scanner = ByteScanner(self)
    guard let value = scanner.saturatingDecimal(), scanner.isAtEnd else { return nil }
    return value
  }
}
