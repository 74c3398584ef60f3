/// The offsets of the name and the value of one field line in the buffer of the head.
package struct FieldLine: Hashable, Sendable {
  package var name: FieldName
  package var nameStart: UInt32, nameEnd: UInt32
  package var valueStart: UInt32, valueEnd: UInt32

  package init(name: FieldName, nameRange: Range<Int>, valueRange: Range<Int>) {
    self.name = name
    (nameStart, nameEnd) = (UInt32(nameRange.lowerBound), UInt32(nameRange.upperBound))
    (valueStart, valueEnd) = (UInt32(valueRange.lowerBound), UInt32(valueRange.upperBound))
  }

  /// The same line in a copy of the buffer where its bytes are `distance` bytes later; negative: earlier.
  func moved(by distance: Int) -> FieldLine {
    FieldLine(
      name: name, nameRange: Int(nameStart) + distance..<Int(nameEnd) + distance,
      valueRange: Int(valueStart) + distance..<Int(valueEnd) + distance)
  }

  package var nameRange: Range<Int> { Int(nameStart)..<Int(nameEnd) }
  package var valueRange: Range<Int> { Int(valueStart)..<Int(valueEnd) }
}

extension [FieldLine] {
  /// The same lines in a copy of the buffer where their bytes are `distance` bytes later; negative: earlier. (`map` is slow when
  /// it is called from other modules.)
  package func moved(by distance: Int) -> [FieldLine] {
    var moved = self
    for index in moved.indices { moved[index] = moved[index].moved(by: distance) }
    return moved
  }
}

/// The field lines of a message in the order of their arrival, byte for byte (RFC 9110 §5).
package struct Fields: Sendable {
  /// Names, values and the bytes between them; the bytes of removed lines stay here.
  package private(set) var storage: [UInt8]
  package private(set) var lines: [FieldLine]
  /// The names that may be among the lines. Most look-ups are for absent fields, and need only this set.
  private var mayHold = FieldNameSet()

  package init() { (storage, lines) = ([], []) }

  /// Takes over the result of a parser. Every range in `lines` has to be within `storage`.
  package init(storage: [UInt8], lines: [FieldLine]) {
    (self.storage, self.lines) = (storage, lines)
    for line in lines { mayHold.insert(line.name) }
  }

  package var count: Int { lines.count }
  package func name(_ line: FieldLine) -> Bytes { storage[line.nameRange] }
  package func value(_ line: FieldLine) -> Bytes { storage[line.valueRange] }

  package func contains(_ name: FieldName) -> Bool {
    mayHold.contains(name) && lines.contains { $0.name == name }
  }

  package func count(of name: FieldName) -> Int {
    mayHold.contains(name) ? lines.count { $0.name == name } : 0
  }

  /// The value of the first line with this name.
  package func first(_ name: FieldName) -> Bytes? {
    guard mayHold.contains(name) else { return nil }
    for line in lines where line.name == name { return storage[line.valueRange] }
    return nil
  }

  /// The value when exactly one line has this name; else `nil`.
  package func only(_ name: FieldName) -> Bytes? { count(of: name) == 1 ? first(name) : nil }

  package func all(_ name: FieldName) -> [Bytes] {
    guard mayHold.contains(name) else { return [] }
    return lines.filter { $0.name == name }.map { storage[$0.valueRange] }
  }

  /// The values of all lines with this name, which may be unknown to pawl. Upper and lower case are the same.
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

  // Generic functions of another module are slow to call, so these overloads have concrete types.
  package mutating func append(_ name: FieldName, _ value: [UInt8]) {
    value.withUnsafeBufferPointer { append(name, bytes: $0) }
  }
  package mutating func append(_ name: FieldName, _ value: Bytes) {
    value.withUnsafeBufferPointer { append(name, bytes: $0) }
  }
  package mutating func append(_ name: FieldName, literal value: StaticString) {
    value.withUTF8Buffer { append(name, bytes: $0) }
  }
  package mutating func append(_ name: FieldName, _ value: String) {
    var value = value
    value.withUTF8 { append(name, bytes: $0) }
  }
  private mutating func append(_ name: FieldName, bytes value: UnsafeBufferPointer<UInt8>) {
    name.spelling.withUTF8Buffer { append(name, spelled: $0, value) }
  }

  /// Appends a line with this spelling of the name.
  package mutating func append(named name: some Collection<UInt8>, _ value: some Collection<UInt8>) {
    Array(name).withUnsafeBufferPointer { name in
      Array(value).withUnsafeBufferPointer { append(FieldName(name), spelled: name, $0) }
    }
  }

  /// Appends a line. The closure `value` writes the value of the line directly into its memory.
  /// - Parameter room: the most bytes of the value.
  package mutating func append(_ name: FieldName, atMost room: Int, writing value: (inout ByteWriter) -> Void) {
    name.spelling.withUTF8Buffer { append(name, spelled: $0, atMost: room, writing: value) }
  }

  /// Appends a line with its CRLF, as it is sent.
  private mutating func append(
    _ known: FieldName, spelled name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>
  ) {
    append(known, spelled: name, atMost: value.count) { $0.put(value) }
  }

  private mutating func append(
    _ known: FieldName, spelled name: UnsafeBufferPointer<UInt8>, atMost room: Int,
    writing value: (inout ByteWriter) -> Void
  ) {
    let start = storage.count
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: name.count + room + 4) { line in
      var output = ByteWriter(line, from: 0)
      output.put(name)
      output.put(": ")
      value(&output)
      output.put("\r\n")
      storage.append(contentsOf: UnsafeBufferPointer(rebasing: line[..<output.end]))
    }
    mayHold.insert(known)
    lines.append(
      FieldLine(
        name: known, nameRange: start..<start + name.count, valueRange: start + name.count + 2..<storage.count - 2))
  }

  /// Appends all lines of `other`: first their bytes, then their offsets.
  package mutating func append(_ other: Fields) {
    let distance = storage.count
    storage.append(contentsOf: other.storage)
    for line in other.lines { lines.append(line.moved(by: distance)) }
    mayHold = mayHold.union(other.mayHold)
  }

  /// Whether one of these names may be among the lines. Also `true` for some names whose lines were removed.
  package func mayContain(anyOf names: FieldNameSet) -> Bool { !mayHold.isDisjoint(with: names) }

  /// Reserves room for further bytes and lines, so that appending moves the existing ones at most once.
  package mutating func reserve(bytes: Int, lines count: Int) {
    storage.reserveCapacity(storage.count + bytes)
    lines.reserveCapacity(lines.count + count)
  }

  package mutating func removeAll(_ name: FieldName) {
    guard contains(name) else { return }
    lines.removeAll { $0.name == name }
    if name != .other { mayHold.remove(name) }
  }

  package mutating func removeAll(anyOf names: FieldNameSet) {
    guard mayContain(anyOf: names) else { return }
    lines.removeAll { names.contains($0.name) }
    mayHold.subtract(names)
  }

  package mutating func removeAll(where isUnwanted: (_ name: FieldName, _ spelling: Bytes, _ value: Bytes) -> Bool) {
    var kept = 0
    for index in lines.indices {
      let line = lines[index]
      if isUnwanted(line.name, storage[line.nameRange], storage[line.valueRange]) { continue }
      // Before the first removed line nothing is written, so that the array is not copied if no line is removed.
      if kept < index { lines[kept] = line }
      kept += 1
    }
    if kept < lines.count { lines.removeSubrange(kept...) }
  }

  /// Like ``removeAll(where:)``, but decided by the name alone: `known` is called for known names, `others` for unknown names.
  package mutating func removeAll(known: (FieldName) -> Bool, others: (_ spelling: Bytes) -> Bool) {
    var kept = 0
    for index in lines.indices {
      let line = lines[index]
      if line.name == .other ? others(storage[line.nameRange]) : known(line.name) { continue }
      if kept < index { lines[kept] = line }
      kept += 1
    }
    if kept < lines.count { lines.removeSubrange(kept...) }
  }

  /// Replaces all lines of this name by one.
  package mutating func set(_ name: FieldName, _ value: [UInt8]) {
    removeAll(name)
    append(name, value[...])
  }

  package mutating func set(_ name: FieldName, _ value: Bytes) {
    removeAll(name)
    append(name, value)
  }

  package mutating func set(_ name: FieldName, _ value: String) {
    removeAll(name)
    append(name, value)
  }

  /// Writes `Name: value` CRLF for every line, except the names that are left out. Adjacent lines that are stored in this form
  /// are copied together.
  package func serialize(into output: inout [UInt8], leavingOut isLeftOut: (FieldName) -> Bool = { _ in false }) {
    output.append(atMost: serializedRoom) { serialize(into: &$0, leavingOut: isLeftOut) }
  }

  /// The most bytes that ``serialize(into:leavingOut:)`` writes.
  package var serializedRoom: Int { storage.count + 4 * lines.count }

  package func serialize(into output: inout ByteWriter, leavingOut isLeftOut: (FieldName) -> Bool) {
    storage.withUnsafeBufferPointer { storage in
      var run = 0..<0
      for line in lines where !isLeftOut(line.name) {
        let whole = line.nameRange.lowerBound..<line.valueRange.upperBound + 2
        if !isWritten(line) {
          output.put(UnsafeBufferPointer(rebasing: storage[run]))
          run = 0..<0
          output.put(UnsafeBufferPointer(rebasing: storage[line.nameRange]))
          output.put(": ")
          output.put(UnsafeBufferPointer(rebasing: storage[line.valueRange]))
          output.put("\r\n")
        } else if whole.lowerBound == run.upperBound {
          run = run.lowerBound..<whole.upperBound
        } else {
          output.put(UnsafeBufferPointer(rebasing: storage[run]))
          run = whole
        }
      }
      output.put(UnsafeBufferPointer(rebasing: storage[run]))
    }
  }

  /// Whether the line is stored as it is sent, with its CRLF.
  private func isWritten(_ line: FieldLine) -> Bool {
    let (nameEnd, valueEnd) = (Int(line.nameEnd), Int(line.valueEnd))
    return Int(line.valueStart) == nameEnd + 2 && valueEnd + 2 <= storage.count && storage[nameEnd] == 0x3a
      && storage[nameEnd + 1] == 0x20 && storage[valueEnd] == 0x0d && storage[valueEnd + 1] == 0x0a
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
  /// Whether both have the same names in the same spelling, with the same values, in the same order.
  package static func == (a: Fields, b: Fields) -> Bool {
    a.count == b.count
      && zip(a.lines, b.lines).allSatisfy { a.name($0) == b.name($1) && a.value($0) == b.value($1) }
  }
}
