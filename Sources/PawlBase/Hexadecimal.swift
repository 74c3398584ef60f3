extension UInt8 {
  /// Returns the character of a hexadecimal digit, in lower case.
  /// - Parameter value: 0 to 15.
  @inlinable @inline(__always)
  package static func hexDigit(_ value: UInt8) -> UInt8 { value &+ (value < 10 ? 0x30 : 0x57) }

  /// The value of the character as a hexadecimal digit, in upper or lower case; `nil` if the character is no such digit.
  @inlinable
  package var hexValue: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46, 0x61...0x66: (self | 0x20) - 0x57
    default: nil
    }
  }
}

extension [UInt8] {
  /// Appends a byte as two hexadecimal digits.
  package mutating func append(hexadecimal byte: UInt8, uppercase: Bool = false) {
    for value in [byte >> 4, byte & 15] {
      let digit = UInt8.hexDigit(value)
      append(uppercase && value > 9 ? digit & ~0x20 : digit)
    }
  }
}

extension Collection<UInt8> {
  /// The hexadecimal digits of all bytes, in lower case.
  package var hexadecimal: [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(count * 2)
    for byte in self { text.append(hexadecimal: byte) }
    return text
  }
}
