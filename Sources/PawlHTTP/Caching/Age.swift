/// The `Age` field (RFC 9111 §5.1).
package enum Age {
  /// Seconds, at most 2^31. Of several values the first counts; absent, or no number, is 0.
  package static func parse(_ fields: Fields) -> Int64 {
    guard let line = fields.first(.age), let value = line.prefix(while: { $0 != 0x2c }).trimmed.saturatedDecimal else {
      return 0
    }
    return min(Int64(value), CacheControl.longest)
  }
}

extension Bytes {
  /// Digits only, `Int64.max` for anything larger; `nil` when anything else stands there.
  fileprivate var saturatedDecimal: UInt64? {
    var scanner = ByteScanner(self)
    guard let value = scanner.saturatingDecimal(), scanner.isAtEnd else { return nil }
    return value
  }
}
