/// A valid `Range` field with the unit bytes (RFC 9110 §14.2).
package struct RangeField: Hashable, Sendable {
  /// The ranges, at least one, in the order of the request.
  package let specs: [RangeSpec]

  /// `nil` when the field is ignored: it is absent, on several lines, in another unit, or malformed anywhere.
  package init?(_ fields: Fields) {
    guard let value = fields.only(.range) else { return nil }
    self.init(value)
  }

  /// Like ``init(_:)-(Fields)``, from the value of the one line.
  package init?(_ value: Bytes) {
    var scanner = ByteScanner(value.trimmed)
    guard scanner.skip(ignoringCase: "bytes=") else { return nil }
    var specs: [RangeSpec] = []
    while !scanner.isAtEnd {
      if scanner.peek != 0x2c, scanner.peek?.isBlank == false {
        guard let spec = Self.readSpec(&scanner) else { return nil }
        specs.append(spec)
      }
      scanner.skipBlanks()
      guard scanner.isAtEnd || scanner.skip(0x2c) else { return nil }
      scanner.skipBlanks()
    }
    guard !specs.isEmpty else { return nil }
    self.specs = specs
  }

  /// The range that a value with exactly one range selects of a representation of `length` bytes. The result is the same as from
  /// ``init(_:)-(Bytes)`` and ``RangeSelection``, but nothing is allocated. `nil` for any other value, or when the answer is not
  /// a 206.
  package static func single(_ value: Bytes, length: UInt64) -> ByteRange? {
    var scanner = ByteScanner(value)
    guard scanner.skip(ignoringCase: "bytes="), let spec = readSpec(&scanner), scanner.isAtEnd else { return nil }
    return spec.selected(of: length)
  }

  private static func readSpec(_ scanner: inout ByteScanner) -> RangeSpec? {
    if scanner.skip(0x2d) { return scanner.saturatingDecimal().map(RangeSpec.suffix) }
    guard let first = scanner.saturatingDecimal(), scanner.skip(0x2d) else { return nil }
    let last = scanner.saturatingDecimal()
    if let last, last < first { return nil }
    return .from(first, through: last)
  }
}
