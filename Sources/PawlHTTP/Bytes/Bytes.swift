import PawlBase

/// Bytes of a message, as a view into the buffer they arrived in. Fields are bytes, never text (RFC 9110 §5.5).
package typealias Bytes = ArraySlice<UInt8>

extension Bytes {
  /// The bytes of a literal or of text that pawl itself wrote.
  package init(_ text: String) { self = Array(text.utf8)[...] }

  /// The bytes as text for a log or an error; bytes that are not UTF-8 are shown as the replacement character.
  package var text: String { String(decoding: self, as: UTF8.self) }

  /// The bytes without spaces and horizontal tabs at either end (OWS, RFC 9110 §5.6.3).
  package var trimmed: Bytes {
    var (start, end) = (startIndex, endIndex)
    while start < end, self[start].isBlank { start += 1 }
    while start < end, self[end - 1].isBlank { end -= 1 }
    return self[start..<end]
  }

  /// Whether both are equal when ASCII letters are compared without case.
  package func equalsIgnoringCase(_ other: some Collection<UInt8>) -> Bool {
    count == other.count && zip(self, other).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
  }

  /// Like ``equalsIgnoringCase(_:)-5l1jx``, with a literal.
  package func equalsIgnoringCase(_ literal: StaticString) -> Bool {
    guard count == literal.utf8CodeUnitCount else { return false }
    return matchesIgnoringCase(literal, at: startIndex)
  }

  /// Whether the bytes from `index` on are those of the literal, letters compared without case. From `index` on, the slice must
  /// not be shorter than the literal.
  func matchesIgnoringCase(_ literal: StaticString, at index: Int) -> Bool {
    // Safe: the literal has `count` bytes, and so has the slice.
    let (start, count) = (literal.utf8Start, literal.utf8CodeUnitCount)
    return self[index..<index + count].withUnsafeBufferPointer { bytes in
      for offset in 0..<count where bytes[offset].lowercasedASCII != start[offset].lowercasedASCII { return false }
      return true
    }
  }

  package func equals(_ literal: StaticString) -> Bool {
    guard count == literal.utf8CodeUnitCount else { return false }
    return literal.withUTF8Buffer { buffer in elementsEqual(buffer) }
  }

  package func hasPrefix(_ literal: StaticString) -> Bool {
    guard count >= literal.utf8CodeUnitCount else { return false }
    return literal.withUTF8Buffer { buffer in starts(with: buffer) }
  }

  /// The value of ASCII digits (RFC 9110 §8.6 `1*DIGIT`). `nil` when there is no digit, when there is any other byte, or when the
  /// value exceeds `UInt64.max`.
  package var strictDecimal: UInt64? { span.decimal(0..<count) }
}

extension UInt8 {
  package var lowercasedASCII: UInt8 { self &- 0x41 <= 25 ? self | 0x20 : self }
}

extension [UInt8] {
  package mutating func append(_ literal: StaticString) {
    literal.withUTF8Buffer { append(contentsOf: $0) }
  }
}

extension StaticString {
  /// The bytes of a literal. Safe: a literal is part of the program, and is never freed.
  package var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}
