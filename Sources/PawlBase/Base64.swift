/// Base64 (RFC 4648 §4), padded and without line ends, and its form for URLs (§5), without padding.
package enum Base64 {
  package static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var text = encode(bytes, standard)
    while !text.count.isMultiple(of: 4) { text.append(padding) }
    return text
  }

  package static func encodeForURL(_ bytes: some Collection<UInt8>) -> [UInt8] { encode(bytes, forURL) }

  /// Decodes a text; `nil` for any text that ``encode(_:)`` would not write. An empty text is decoded to an empty array.
  package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    let count = text.reversed().prefix { $0 == padding }.count
    guard count <= 2, count < max(text.count, 1) else { return nil }
    guard let (bytes, rest) = decode(text.dropLast(count), standard) else { return nil }
    // Unused bits are zero (RFC 4648 §3.5).
    return rest == 0 ? bytes : nil
  }

  /// Decodes the form for URLs; `nil` if the text has any other character. Unused bits are ignored.
  package static func decodeFromURL(_ text: ArraySlice<UInt8>) -> [UInt8]? { decode(text, forURL)?.bytes }

  /// Whether the character belongs to the alphabet for URLs.
  package static func isForURL(_ character: UInt8) -> Bool { value(of: character, forURL) != nil }

  private static let padding: UInt8 = 0x3d
  /// The last two characters of the alphabet. The two forms differ only in these.
  private static let standard: (UInt8, UInt8) = (0x2b, 0x2f)
  private static let forURL: (UInt8, UInt8) = (0x2d, 0x5f)

  private static func encode(_ bytes: some Collection<UInt8>, _ last: (UInt8, UInt8)) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var (word, bits) = (UInt32(0), UInt32(0))
    for byte in bytes {
      (word, bits) = (word << 8 | UInt32(byte), bits + 8)
      while bits >= 6 {
        bits -= 6
        text.append(character(of: word >> bits & 63, last))
      }
      word &= (1 << bits) - 1
    }
    if bits > 0 { text.append(character(of: word << (6 - bits), last)) }
    return text
  }

  /// - Returns: the bytes, and the value of the unused bits at the end of the text.
  private static func decode(
    _ text: ArraySlice<UInt8>, _ last: (UInt8, UInt8)
  ) -> (bytes: [UInt8], rest: UInt32)? {
    var output: [UInt8] = []
    output.reserveCapacity(text.count / 4 * 3 + 2)
    var (word, bits) = (UInt32(0), UInt32(0))
    for byte in text {
      guard let value = value(of: byte, last) else { return nil }
      (word, bits) = (word << 6 | value, bits + 6)
      guard bits >= 8 else { continue }
      bits -= 8
      output.append(UInt8(truncatingIfNeeded: word >> bits))
      word &= (1 << bits) - 1
    }
    return (output, word)
  }

  private static func character(of value: UInt32, _ last: (UInt8, UInt8)) -> UInt8 {
    switch value {
    case 0..<26: 0x41 + UInt8(value)
    case 26..<52: 0x61 + UInt8(value - 26)
    case 52..<62: 0x30 + UInt8(value - 52)
    case 62: last.0
    default: last.1
    }
  }

  private static func value(of character: UInt8, _ last: (UInt8, UInt8)) -> UInt32? {
    switch character {
    case 0x41...0x5a: UInt32(character) - 0x41
    case 0x61...0x7a: UInt32(character) - 0x61 + 26
    case 0x30...0x39: UInt32(character) - 0x30 + 52
    case last.0: 62
    case last.1: 63
    default: nil
    }
  }
}
