/// Writes JSON (RFC 8259) into bytes, without intermediate values. Commas are put by the writer; the caller writes each member of
/// an object by its name, and each element of an array without one.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []
  /// Whether the next member or element is the first one.
  private var isFirst = true

  package init() {}

  /// The value as a line.
  package var line: [UInt8] { bytes + [0x0a] }
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  // MARK: Values by themselves, or in an array

  package mutating func object(_ members: (inout JSONWriter) -> Void) { nest(0x7b, 0x7d, members) }
  package mutating func array(_ elements: (inout JSONWriter) -> Void) { nest(0x5b, 0x5d, elements) }

  package mutating func value(_ text: String) {
    begin()
    quote(text.utf8)
  }

  package mutating func value(_ number: some BinaryInteger) {
    begin()
    append("\(number)")
  }

  package mutating func value(_ isSo: Bool) {
    begin()
    append(isSo ? "true" : "false")
  }

  package mutating func null() {
    begin()
    append("null")
  }

  // MARK: Members

  package mutating func member(_ name: String, _ text: String?) {
    key(name)
    if let text { value(text) } else { null() }
  }

  package mutating func member(_ name: String, _ number: (some BinaryInteger)?) {
    key(name)
    if let number { value(number) } else { null() }
  }

  package mutating func member(_ name: String, _ isSo: Bool) {
    key(name)
    value(isSo)
  }

  /// Writes a number with up to three digits after the point.
  package mutating func member(_ name: String, thousandths: Int64) {
    key(name)
    begin()
    let (whole, rest) = (thousandths.magnitude / 1000, thousandths.magnitude % 1000)
    let digits = String(repeating: "0", count: 3 - "\(rest)".utf8.count) + "\(rest)"
    append("\(thousandths < 0 ? "-" : "")\(whole).\(digits)")
  }

  package mutating func member(_ name: String, object members: (inout JSONWriter) -> Void) {
    key(name)
    object(members)
  }

  package mutating func member(_ name: String, array elements: (inout JSONWriter) -> Void) {
    key(name)
    array(elements)
  }

  package mutating func member(_ name: String, _ texts: [String]) {
    member(name, array: { json in for text in texts { json.value(text) } })
  }

  // MARK: Bytes

  private mutating func key(_ name: String) {
    begin()
    quote(name.utf8)
    bytes.append(0x3a)
    isFirst = true  // No comma before the value.
  }

  private mutating func begin() {
    if !isFirst { bytes.append(0x2c) }
    isFirst = false
  }

  private mutating func nest(_ opening: UInt8, _ closing: UInt8, _ content: (inout JSONWriter) -> Void) {
    begin()
    bytes.append(opening)
    isFirst = true
    content(&self)
    bytes.append(closing)
    isFirst = false
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func quote(_ text: String.UTF8View) {
    bytes.append(0x22)
    for byte in text {
      switch byte {
      case 0x22, 0x5c:
        bytes.append(0x5c)
        bytes.append(byte)
      case ..<0x20, 0x7f:
        append("\\u00")
        bytes.append(contentsOf: [byte].hexadecimal)
      default: bytes.append(byte)
      }
    }
    bytes.append(0x22)
  }
}
