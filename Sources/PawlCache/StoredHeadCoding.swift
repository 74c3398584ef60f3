import PawlHTTP

/// A stored head as octets for the catalogue: a version, numbers in big-endian order, and strings after their length.
extension StoredHead {
  private static let formatVersion: UInt8 = 1

  package func serialize() -> [UInt8] {
    var output: [UInt8] = [Self.formatVersion]
    output.append(number: UInt64(status))
    output.append(number: UInt64(bitPattern: requestTime))
    output.append(number: UInt64(bitPattern: responseTime))
    output.append(validators.date == nil ? 0 : 1)
    output.append(number: UInt64(bitPattern: validators.date ?? 0))
    output.append(string: selecting[...])
    output.append(string: implicitKey[...])
    output.append(number: UInt64(fields.count))
    for line in fields.lines {
      output.append(string: fields.name(line))
      output.append(string: fields.value(line))
    }
    return output
  }

  /// `nil` when the octets are not what ``serialize()`` wrote: of another version, cut, or with anything behind.
  package init?(serialized: [UInt8]) {
    var reader = OctetReader(rest: serialized[...])
    guard reader.octet() == Self.formatVersion, let status = reader.number(), (100...999).contains(status),
      let requestTime = reader.number(), let responseTime = reader.number(), let hasDate = reader.octet(),
      hasDate <= 1, let date = reader.number(), hasDate == 1 || date == 0, let selecting = reader.string(),
      let implicitKey = reader.string(), let count = reader.number()
    else { return nil }
    var fields = Fields()
    for _ in 0..<count {
      // Each line consumes octets, so a false count ends here and not in memory.
      guard let name = reader.string(), let value = reader.string() else { return nil }
      fields.append(named: name, value)
    }
    guard reader.rest.isEmpty else { return nil }
    self.init(
      status: Int(status), fields: fields, requestTime: Int64(bitPattern: requestTime),
      responseTime: Int64(bitPattern: responseTime), bytesDate: hasDate == 1 ? Int64(bitPattern: date) : nil,
      selecting: Array(selecting), implicitKey: Array(implicitKey))
  }
}

extension [UInt8] {
  fileprivate mutating func append(number: UInt64) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  fileprivate mutating func append(string: Bytes) {
    append(number: UInt64(string.count))
    append(contentsOf: string)
  }
}

/// Reads from the front; `nil` once anything is missing.
private struct OctetReader {
  var rest: Bytes

  mutating func octet() -> UInt8? { rest.popFirst() }

  mutating func number() -> UInt64? {
    guard rest.count >= 8 else { return nil }
    let value = rest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    rest = rest.dropFirst(8)
    return value
  }

  mutating func string() -> Bytes? {
    guard let count = number(), count <= UInt64(rest.count) else { return nil }
    let value = rest.prefix(Int(count))
    rest = rest.dropFirst(Int(count))
    return value
  }
}
