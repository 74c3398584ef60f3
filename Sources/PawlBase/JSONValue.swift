/// A JSON value (RFC 8259), and its position in the text.
package struct JSONValue: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    case object([Member])
    case array([JSONValue])
    case string(String)
    /// The text of a number. The reader decides whether it has to be a whole number.
    case number(String)
    case bool(Bool)
    case null
  }

  package struct Member: Hashable, Sendable {
    /// The offset in bytes at which the name begins.
    package var place: Int
    package var name: String
    package var value: JSONValue
  }

  /// The offset of the value in the text, in bytes.
  package var place: Int
  package var content: Content

  package init(place: Int, content: Content) { (self.place, self.content) = (place, content) }
}

/// An error in a text, with its offset in bytes.
package struct JSONFault: Error, Hashable, Sendable {
  package var place: Int
  package var reason: String

  package init(place: Int, reason: String) { (self.place, self.reason) = (place, reason) }
}

/// Parses the grammar of RFC 8259 exactly, in UTF-8.
package struct JSONParser {
  /// The deepest nesting of values; a report needs five levels.
  private static let depthLimit = 32

  private let bytes: [UInt8]
  private var place = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  package static func parse(_ bytes: [UInt8]) throws(JSONFault) -> JSONValue {
    var parser = JSONParser(bytes)
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.peek == nil else { throw parser.fault("nothing may follow the value") }
    return value
  }

  private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

  private func fault(_ reason: String) -> JSONFault {
    JSONFault(place: place, reason: peek == nil ? "the text ends too early" : reason)
  }

  private mutating func skipSpace() { while let byte = peek, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { place += 1 } }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard peek == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONFault) -> JSONValue {
    skipSpace()
    let start = place
    guard depth < Self.depthLimit else { throw fault("values are nested too deep") }
    let content: JSONValue.Content
    switch peek {
    case UInt8(ascii: "{"): content = .object(try members(depth: depth))
    case UInt8(ascii: "["): content = .array(try elements(depth: depth))
    case UInt8(ascii: "\""): content = .string(try string())
    case UInt8(ascii: "t"): content = try word("true", .bool(true))
    case UInt8(ascii: "f"): content = try word("false", .bool(false))
    case UInt8(ascii: "n"): content = try word("null", .null)
    default: content = .number(try number())
    }
    return JSONValue(place: start, content: content)
  }

  private mutating func members(depth: Int) throws(JSONFault) -> [JSONValue.Member] {
    place += 1
    var members: [JSONValue.Member] = []
    skipSpace()
    if take("}") { return members }
    repeat {
      skipSpace()
      let start = place
      guard peek == UInt8(ascii: "\"") else { throw fault("a name in quotes is expected") }
      let name = try string()
      skipSpace()
      guard take(":") else { throw fault("a colon is expected") }
      members.append(JSONValue.Member(place: start, name: name, value: try value(depth: depth + 1)))
      skipSpace()
    } while take(",")
    guard take("}") else { throw fault("a comma or } is expected") }
    return members
  }

  private mutating func elements(depth: Int) throws(JSONFault) -> [JSONValue] {
    place += 1
    var elements: [JSONValue] = []
    skipSpace()
    if take("]") { return elements }
    repeat {
      elements.append(try value(depth: depth + 1))
      skipSpace()
    } while take(",")
    guard take("]") else { throw fault("a comma or ] is expected") }
    return elements
  }

  private mutating func word(_ word: String, _ content: JSONValue.Content) throws(JSONFault) -> JSONValue.Content {
    guard bytes[place...].starts(with: word.utf8) else { throw fault("a value is expected") }
    place += word.utf8.count
    return content
  }

  private mutating func number() throws(JSONFault) -> String {
    let start = place
    _ = take("-")
    guard let first = peek, (0x30...0x39).contains(first) else { throw fault("a value is expected") }
    try digits()
    guard first != 0x30 || place - start - (bytes[start] == 0x2d ? 1 : 0) == 1 else {
      place = start
      throw fault("a number must not begin with 0")
    }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    return String(decoding: bytes[start..<place], as: UTF8.self)
  }

  private mutating func digits() throws(JSONFault) {
    let start = place
    while let byte = peek, (0x30...0x39).contains(byte) { place += 1 }
    guard place > start else { throw fault("a digit is expected") }
  }

  /// Reads a string. The opening quote is the next byte.
  private mutating func string() throws(JSONFault) -> String {
    let start = place
    place += 1
    var text: [UInt8] = []
    while let byte = peek, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw fault("a control character must be escaped") }
      place += 1
      if byte == UInt8(ascii: "\\") { text += try String(escaped()).utf8 } else { text.append(byte) }
    }
    guard take("\"") else { throw fault("a quote is expected") }
    guard let string = String(validating: text, as: UTF8.self) else {
      throw JSONFault(place: start, reason: "a string must be UTF-8")
    }
    return string
  }

  /// Reads an escape, after its backslash.
  private mutating func escaped() throws(JSONFault) -> Unicode.Scalar {
    let start = place - 1
    guard let byte = peek else { throw fault("") }
    place += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      let high = try codeUnit()
      if let scalar = Unicode.Scalar(high) { return scalar }
      if high < 0xdc00, take("\\"), take("u") {
        let low = try codeUnit()
        if (0xdc00..<0xe000).contains(low),
          let scalar = Unicode.Scalar(0x10000 + (UInt32(high - 0xd800) << 10) + UInt32(low - 0xdc00))
        {
          return scalar
        }
      }
      throw JSONFault(place: start, reason: "half of a surrogate pair")
    default: throw JSONFault(place: start, reason: "an unknown escape")
    }
  }

  private mutating func codeUnit() throws(JSONFault) -> UInt16 {
    guard place + 4 <= bytes.count else {
      place = bytes.count
      throw fault("")
    }
    let digits = bytes[place..<(place + 4)]
    guard digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw fault("four hexadecimal digits are expected") }
    place += 4
    return unit
  }
}
