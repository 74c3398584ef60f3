package import PawlHTTP

/// Writes heads as bytes for the catalogue: numbers in big-endian order, and each string after its length.
extension [UInt8] {
  package mutating func append(number: UInt64) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }

  package mutating func append(string: Bytes) {
    append(number: UInt64(string.count))
    append(contentsOf: string)
  }

  package mutating func append(fields: Fields) {
    append(number: UInt64(fields.count))
    for line in fields.lines {
      append(string: fields.name(line))
      append(string: fields.value(line))
    }
  }
}

/// Reads what the functions for `[UInt8]` append, in the same order. Each function returns `nil` when bytes are missing.
package struct ByteReader {
  package private(set) var rest: Bytes

  package init(rest: Bytes) { self.rest = rest }

  package mutating func byte() -> UInt8? { rest.popFirst() }

  package mutating func number() -> UInt64? {
    guard rest.count >= 8 else { return nil }
    let value = rest.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    rest = rest.dropFirst(8)
    return value
  }

  package mutating func string() -> Bytes? {
    guard let count = number(), count <= UInt64(rest.count) else { return nil }
    let value = rest.prefix(Int(count))
    rest = rest.dropFirst(Int(count))
    return value
  }

  package mutating func fields() -> Fields? {
    guard let count = number() else { return nil }
    var fields = Fields()
    for _ in 0..<count {
      // Each line consumes bytes, so the loop ends with the bytes. A wrong count cannot fill the memory.
      guard let name = string(), let value = string() else { return nil }
      fields.append(named: name, value)
    }
    return fields
  }
}
