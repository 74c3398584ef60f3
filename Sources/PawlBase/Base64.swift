/// Base64 as tus writes it (RFC 4648 §4): padded, nothing between the characters.
package enum Base64 {
  /// `nil` for anything that an encoder would not have written. Nothing is decoded to nothing.
  package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    let padding = text.reversed().prefix { $0 == 0x3d }.count
    guard padding <= 2, padding < max(text.count, 1) else { return nil }
    var output: [UInt8] = []
    output.reserveCapacity(text.count / 4 * 3)
    var (word, bits) = (UInt32(0), UInt32(0))
    for octet in text.dropLast(padding) {
      guard let digit = digit(octet) else { return nil }
      (word, bits) = (word << 6 | digit, bits + 6)
      guard bits >= 8 else { continue }
      bits -= 8
      output.append(UInt8(truncatingIfNeeded: word >> bits))
      word &= (1 << bits) - 1
    }
    // Bits that stand for nothing are zero (RFC 4648 §3.5).
    return word == 0 ? output : nil
  }

  private static func digit(_ octet: UInt8) -> UInt32? {
    switch octet {
    case 0x41...0x5a: UInt32(octet) - 0x41
    case 0x61...0x7a: UInt32(octet) - 0x61 + 26
    case 0x30...0x39: UInt32(octet) - 0x30 + 52
    case 0x2b: 62
    case 0x2f: 63
    default: nil
    }
  }
}
