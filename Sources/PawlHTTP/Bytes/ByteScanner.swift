/// Reads a field value from left to right. Each step that fails leaves the position where it was.
package struct ByteScanner {
  private let bytes: Bytes
  private var position: Int

  package init(_ bytes: Bytes) { (self.bytes, position) = (bytes, bytes.startIndex) }

  package var isAtEnd: Bool { position == bytes.endIndex }

  /// The byte at the position, without moving on.
  package var peek: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

  /// The bytes that were not read yet.
  package var rest: Bytes { bytes[position...] }

  /// Moves to an index of ``rest``.
  mutating func advance(to index: Int) { position = index }

  package mutating func skip(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    position += 1
    return true
  }

  /// Skips the literal, letters compared without case.
  package mutating func skip(ignoringCase literal: StaticString) -> Bool {
    let end = position + literal.utf8CodeUnitCount
    guard end <= bytes.endIndex, bytes.matchesIgnoringCase(literal, at: position) else { return false }
    position = end
    return true
  }

  /// Skips optional white space (RFC 9110 §5.6.3).
  package mutating func skipBlanks() {
    while position < bytes.endIndex, bytes[position].isBlank { position += 1 }
  }

  /// Reads a `token` (RFC 9110 §5.6.2); `nil` when there is none here.
  package mutating func token() -> Bytes? {
    let start = position
    let set = ByteSet.token
    while position < bytes.endIndex, set.contains(bytes[position]) { position += 1 }
    return start == position ? nil : bytes[start..<position]
  }

  /// Reads digits up to the first byte that is no digit. A value above `Int64.max` becomes `Int64.max`. (`Span.decimal` returns
  /// `nil` for such a byte and for a value above its limit.) `nil` when there is no digit here.
  package mutating func saturatingDecimal() -> UInt64? {
    let limit = UInt64(Int64.max)
    guard var value = peek?.isDigit == true ? UInt64(0) : nil else { return nil }
    while position < bytes.endIndex, bytes[position].isDigit {
      let digit = UInt64(bytes[position] &- 0x30)
      value = value > (limit - digit) / 10 ? limit : value * 10 + digit
      position += 1
    }
    return value
  }

  /// Reads exactly `count` digits; a further digit may follow. For dates, whose numbers have a fixed width.
  package mutating func decimal(digits count: Int) -> Int? {
    guard bytes.endIndex - position >= count else { return nil }
    var value = 0
    for byte in bytes[position..<position + count] {
      guard byte.isDigit else { return nil }
      value = value * 10 + Int(byte &- 0x30)
    }
    position += count
    return value
  }

  /// Reads a `quoted-string` and returns the bytes between the quotes, escapes unchanged (RFC 9110 §5.6.4). `nil` when there is
  /// no quote here, or it is never closed.
  package mutating func quotedString() -> Bytes? {
    guard peek == 0x22, let close = bytes.closingQuote(openedAt: position) else { return nil }
    defer { position = close + 1 }
    return bytes[position + 1..<close]
  }
}

extension Bytes {
  /// The index of the quote that closes the string opened at `start`; escaped quotes (`\"`) are skipped.
  func closingQuote(openedAt start: Int) -> Int? {
    var index = start + 1
    while index < endIndex {
      if self[index] == 0x22 { return index }
      index += self[index] == 0x5c ? 2 : 1
    }
    return nil
  }

  /// The elements of a comma-separated list, trimmed, without empty ones (RFC 9110 §5.6.1.2).
  package var listElements: ListElements { ListElements(self) }
}

/// Iterates over the elements of a list. A comma inside a closed quoted string separates nothing. A quote that is never closed is
/// an ordinary byte, so that it cannot hide what follows.
package struct ListElements: Sequence, IteratorProtocol {
  private let line: Bytes
  private var position: Int
  /// `false` after a quote was found that is never closed. Then no closing quote is searched for any more.
  private var quotesMayClose = true

  init(_ line: Bytes) { (self.line, position) = (line, line.startIndex) }

  package mutating func next() -> Bytes? {
    while position < line.endIndex {
      let start = position
      skipToComma()
      let element = line[start..<position].trimmed
      position = Swift.min(position + 1, line.endIndex)
      if !element.isEmpty { return element }
    }
    return nil
  }

  private mutating func skipToComma() {
    while position < line.endIndex, line[position] != 0x2c {
      if line[position] == 0x22, quotesMayClose {
        if let close = line.closingQuote(openedAt: position) { position = close } else { quotesMayClose = false }
      }
      position += 1
    }
  }
}
