/// Where one field line's name and value stand in the buffer that holds the head.
package struct FieldLine: Hashable, Sendable {
  package var name: FieldName
  package var nameStart: UInt32, nameEnd: UInt32
  package var valueStart: UInt32, valueEnd: UInt32

  package init(name: FieldName, nameRange: Range<Int>, valueRange: Range<Int>) {
    self.name = name
    (nameStart, nameEnd) = (UInt32(nameRange.lowerBound), UInt32(nameRange.upperBound))
    (valueStart, valueEnd) = (UInt32(valueRange.lowerBound), UInt32(valueRange.upperBound))
  }

  package var nameRange: Range<Int> { Int(nameStart)..<Int(nameEnd) }
  package var valueRange: Range<Int> { Int(valueStart)..<Int(valueEnd) }
}

/// The field lines of a message in the order they came, octet for octet (RFC 9110 §5).
package struct Fields: Sendable {
  /// Holds names and values; lines that were removed leave their octets behind.
  package private(set) var storage: [UInt8]
  package private(set) var lines: [FieldLine]

  package init() { (storage, lines) = ([], []) }

  /// Adopts what a parser found. Every range in `lines` must lie within `storage`.
  package init(storage: [UInt8], lines: [FieldLine]) { (self.storage, self.lines) = (storage, lines) }

  package var count: Int { lines.count }
  package func name(_ line: FieldLine) -> Bytes { storage[line.nameRange] }
  package func value(_ line: FieldLine) -> Bytes { storage[line.valueRange] }

  package func contains(_ name: FieldName) -> Bool { lines.contains { $0.name == name } }
  package func count(of name: FieldName) -> Int { lines.count { $0.name == name } }

  /// The value of the first line with this name.
  package func first(_ name: FieldName) -> Bytes? {
    lines.first { $0.name == name }.map { storage[$0.valueRange] }
  }

  /// The value when exactly one line has this name; `nil` when none or several do.
  package func only(_ name: FieldName) -> Bytes? { count(of: name) == 1 ? first(name) : nil }

  package func all(_ name: FieldName) -> [Bytes] {
    lines.filter { $0.name == name }.map { storage[$0.valueRange] }
  }

  /// All values of a name given in any case, known or not.
  package func all(named name: some Collection<UInt8>) -> [Bytes] {
    lines.filter { storage[$0.nameRange].equalsIgnoringCase(name) }.map { storage[$0.valueRange] }
  }

  /// All lines of this name as one list value, joined by `, ` (RFC 9110 §5.3); `nil` when there is none.
  package func combined(_ name: FieldName) -> Bytes? { Self.join(all(name)) }
  package func combined(named name: some Collection<UInt8>) -> Bytes? { Self.join(all(named: name)) }

  private static func join(_ values: [Bytes]) -> Bytes? {
    guard let first = values.first else { return nil }
    guard values.count > 1 else { return first }
    return Array(values.joined(separator: [0x2c, 0x20]))[...]
  }

  package mutating func append(_ name: FieldName, _ value: some Collection<UInt8>) {
    name.spelling.withUTF8Buffer { append(name, spelled: $0, value) }
  }

  package mutating func append(_ name: FieldName, _ value: String) { append(name, value.utf8) }

  /// Appends a line under the name as it was spelled.
  package mutating func append(named name: some Collection<UInt8>, _ value: some Collection<UInt8>) {
    append(FieldName(name), spelled: name, value)
  }

  private mutating func append(
    _ known: FieldName, spelled name: some Collection<UInt8>, _ value: some Collection<UInt8>
  ) {
    let start = storage.count
    storage.append(contentsOf: name)
    let middle = storage.count
    storage.append(contentsOf: value)
    lines.append(FieldLine(name: known, nameRange: start..<middle, valueRange: middle..<storage.count))
  }

  package mutating func removeAll(_ name: FieldName) { lines.removeAll { $0.name == name } }

  package mutating func removeAll(where isUnwanted: (_ name: FieldName, _ spelling: Bytes, _ value: Bytes) -> Bool) {
    let storage = storage
    lines.removeAll { isUnwanted($0.name, storage[$0.nameRange], storage[$0.valueRange]) }
  }

  /// Replaces every line of this name by one.
  package mutating func set(_ name: FieldName, _ value: some Collection<UInt8>) {
    removeAll(name)
    append(name, value)
  }

  package mutating func set(_ name: FieldName, _ value: String) { set(name, value.utf8) }

  /// Writes `Name: value` CRLF for every line.
  package func serialize(into output: inout [UInt8]) {
    for line in lines {
      output.append(contentsOf: storage[line.nameRange])
      output.append(": " as StaticString)
      output.append(contentsOf: storage[line.valueRange])
      output.append("\r\n" as StaticString)
    }
  }
}

extension Fields: CustomStringConvertible {
  package var description: String {
    var output: [UInt8] = []
    serialize(into: &output)
    return String(decoding: output, as: UTF8.self)
  }
}

extension Fields: Equatable {
  /// Same names in the same spelling, same values, same order.
  package static func == (a: Fields, b: Fields) -> Bool {
    a.count == b.count
      && zip(a.lines, b.lines).allSatisfy { a.name($0) == b.name($1) && a.value($0) == b.value($1) }
  }
}
