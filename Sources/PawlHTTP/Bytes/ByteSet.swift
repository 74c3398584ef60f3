import PawlBase

/// A set of ASCII bytes as a bit map: a look-up is a shift and a mask.
package struct ByteSet: Hashable, Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  /// The ASCII bytes of the literal; others are left out.
  package init(_ members: StaticString) { members.withUTF8Buffer { for byte in $0 { insert(byte) } } }

  /// The ASCII bytes of `members`; others are left out.
  package init(_ members: some Sequence<UInt8>) { for byte in members { insert(byte) } }

  private mutating func insert(_ byte: UInt8) {
    if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte - 64) }
  }

  package func contains(_ byte: UInt8) -> Bool {
    if byte < 64 { return low >> UInt64(byte) & 1 == 1 }
    return byte < 128 && high >> UInt64(byte - 64) & 1 == 1
  }

  /// `tchar` (RFC 9110 §5.6.2).
  package static let token = ByteSet(
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
}

extension UInt8 {
  /// An ASCII digit.
  package var isDigit: Bool { self &- 0x30 <= 9 }

  /// An ASCII letter.
  package var isLetter: Bool { lowercasedASCII &- 0x61 <= 25 }

  package var isHexDigit: Bool { hexValue != nil }

  /// Optional white space: a space or a horizontal tab (RFC 9110 §5.6.3).
  package var isBlank: Bool { self == 0x20 || self == 0x09 }
}
