import PawlBase

/// A chunk size, parsed digit by digit (RFC 9112 §7.1).
struct ChunkSize: Hashable, Sendable {
  private(set) var value: UInt64 = 0
  private(set) var digits = 0

  /// Takes a digit; `false` beyond sixteen digits, leading zeros included, or beyond 2^63-1.
  mutating func take(_ digit: UInt8) -> Bool {
    guard digits < 16, value >> 59 == 0 else { return false }
    (value, digits) = (value << 4 | UInt64(digit), digits + 1)
    return true
  }
}

/// A chunk line, `chunk-size [ chunk-ext ] CRLF`, parsed byte by byte (RFC 9112 §7.1.1), because it may arrive in any pieces. Its
/// bytes are not kept.
struct ChunkLine: Hashable, Sendable {
  enum Place: Hashable, Sendable {
    case sizeStart, size, afterSize
    case nameStart, name, afterName
    case valueStart, token, quoted, quotedPair, afterValue
    case lineFeed
  }
  enum Step: Hashable { case more, complete, malformed(StaticString) }

  private(set) var size = ChunkSize()
  private var place = Place.sizeStart
  /// The number of extension bytes in this line.
  private(set) var extensionCount = 0

  mutating func take(_ byte: UInt8) -> Step {
    switch place {
    case .sizeStart, .size: return takeSize(byte)
    case .lineFeed: return byte == Byte.lineFeed ? .complete : .malformed("A carriage return stands alone.")
    default:
      if byte != Byte.carriageReturn { extensionCount += 1 }
      guard let next = placeAfter(byte) else { return .malformed("A chunk extension is malformed.") }
      place = next
      return .more
    }
  }

  private mutating func takeSize(_ byte: UInt8) -> Step {
    if let digit = byte.hexValue {
      place = .size
      return size.take(digit) ? .more : .malformed("A chunk size is too large.")
    }
    guard place == .size else { return .malformed("A chunk size is missing or is no hexadecimal number.") }
    switch byte {
    case Byte.carriageReturn: place = .lineFeed
    case Byte.semicolon: (place, extensionCount) = (.nameStart, 1)
    case Byte.space, Byte.tab: (place, extensionCount) = (.afterSize, 1)
    default: return .malformed("A chunk size is no hexadecimal number.")
    }
    return .more
  }

  /// The state after a byte of `*( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )`; `nil` when the byte is not
  /// allowed. No blank may precede the line end.
  private func placeAfter(_ byte: UInt8) -> Place? {
    let isBlank = Byte.isBlank(byte)
    let isToken = ASCIISet.token.contains(byte)
    switch place {
    case .afterSize: return isBlank ? .afterSize : byte == Byte.semicolon ? .nameStart : nil
    case .nameStart: return isBlank ? .nameStart : isToken ? .name : nil
    case .name: return isToken ? .name : isBlank ? .afterName : byte == Byte.equals ? .valueStart : lineOrNext(byte)
    case .afterName:
      return isBlank ? .afterName : byte == Byte.equals ? .valueStart : byte == Byte.semicolon ? .nameStart : nil
    case .valueStart: return isBlank ? .valueStart : byte == Byte.quote ? .quoted : isToken ? .token : nil
    case .token: return isToken ? .token : isBlank ? .afterSize : lineOrNext(byte)
    case .quoted:
      if byte == Byte.quote { return .afterValue }
      if byte == Byte.backslash { return .quotedPair }
      return byte >= 0x80 || ASCIISet.quotedText.contains(byte) ? .quoted : nil
    case .quotedPair: return byte >= 0x20 && byte != 0x7f || byte == Byte.tab ? .quoted : nil
    case .afterValue: return isBlank ? .afterSize : lineOrNext(byte)
    case .sizeStart, .size, .lineFeed: return nil
    }
  }

  private func lineOrNext(_ byte: UInt8) -> Place? {
    byte == Byte.carriageReturn ? .lineFeed : byte == Byte.semicolon ? .nameStart : nil
  }
}

extension ChunkLine.Step {
  static func == (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.more, .more), (.complete, .complete): true
    case (.malformed(let a), .malformed(let b)): a.isSameText(as: b)
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {}
}
