/// A constant set of ASCII bytes. A look-up reads neither a table nor a lazily initialised global.
struct ASCIISet: Sendable {
  var low: UInt64, high: UInt64

  @inline(__always) func contains(_ byte: UInt8) -> Bool {
    let word = byte & 0x40 == 0 ? low : high
    return byte < 0x80 && (word >> UInt64(byte & 0x3f)) & 1 == 1
  }

  /// `tchar` (RFC 9110 §5.6.2).
  static var token: ASCIISet { ASCIISet(low: 0x03ff_6cfa_0000_0000, high: 0x57ff_ffff_c7ff_fffe) }
  /// The bytes that a request target may hold: visible ASCII without `#` and `\`.
  static var target: ASCIISet { ASCIISet(low: 0xffff_fff6_0000_0000, high: 0x7fff_ffff_efff_ffff) }
  /// `unreserved` (RFC 3986 §3.2.2). Without `sub-delims`: no host name has them, and `a,b` looks like a list.
  static var hostName: ASCIISet { ASCIISet(low: 0x03ff_6000_0000_0000, high: 0x47ff_fffe_87ff_fffe) }
  /// `qdtext` below 0x80 (RFC 9110 §5.6.4).
  static var quotedText: ASCIISet { ASCIISet(low: 0xffff_fffb_0000_0200, high: 0x7fff_ffff_efff_ffff) }
}

enum Byte {
  static let tab: UInt8 = 0x09, lineFeed: UInt8 = 0x0a, carriageReturn: UInt8 = 0x0d, space: UInt8 = 0x20
  static let colon: UInt8 = 0x3a, comma: UInt8 = 0x2c, semicolon: UInt8 = 0x3b, equals: UInt8 = 0x3d
  static let quote: UInt8 = 0x22, backslash: UInt8 = 0x5c, slash: UInt8 = 0x2f, star: UInt8 = 0x2a, dot: UInt8 = 0x2e

  @inline(__always) static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }
  @inline(__always) static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 }
}

extension Span<UInt8> {
  /// The first offset at or after `from` whose byte is not in the set; `end` when all are.
  @inline(__always) func firstOutside(_ set: ASCIISet, from: Int, to end: Int) -> Int {
    var at = from
    while at < end, set.contains(self[at]) { at &+= 1 }
    return at
  }

  @inline(__always) func firstNonBlank(from: Int, to end: Int) -> Int {
    var at = from
    while at < end, Byte.isBlank(self[at]) { at &+= 1 }
    return at
  }

  /// The end of `from..<end` after trailing blanks are removed.
  @inline(__always) func withoutTrailingBlanks(from: Int, to end: Int) -> Int {
    var at = end
    while at > from, Byte.isBlank(self[at &- 1]) { at &-= 1 }
    return at
  }

  /// The offset of the first byte that no field value may hold: a control character other than the tab (RFC 9110 §5.5). `end`
  /// when there is none. Reads eight bytes at a time, since most bytes of a head are values.
  func firstControl(from: Int, to end: Int) -> Int {
    var at = from
    while at &+ 8 <= end {
      let word = word(at: at)
      let deleted = word ^ 0x7f7f_7f7f_7f7f_7f7f
      let below = (word &- 0x2020_2020_2020_2020) & ~word
      // A subtraction may borrow from the next higher byte, and so mark a byte wrongly, but only above a true hit. So the lowest
      // mark is exact.
      let marks = (below | ((deleted &- 0x0101_0101_0101_0101) & ~deleted)) & 0x8080_8080_8080_8080
      guard marks != 0 else {
        at &+= 8
        continue
      }
      at &+= marks.trailingZeroBitCount >> 3
      guard self[at] == Byte.tab else { return at }
      at &+= 1
    }
    while at < end {
      let byte = self[at]
      guard byte >= 0x20 && byte != 0x7f || byte == Byte.tab else { return at }
      at &+= 1
    }
    return at
  }

  /// Like ``firstOutside(_:from:to:)``, for ``ASCIISet/target``, eight bytes at a time.
  @inline(__always) func endOfTarget(from: Int, to end: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var at = from
    while at &+ 8 <= end {
      let word = word(at: at)
      let (deleted, hash, backslash) = (word ^ ones &* 0x7f, word ^ ones &* 0x23, word ^ ones &* 0x5c)
      let marks = (word &- ones &* 0x21) & ~word | (deleted &- ones) & ~deleted | (hash &- ones) & ~hash
      guard (marks | (backslash &- ones) & ~backslash | word) & (ones &* 0x80) == 0 else { break }
      at &+= 8
    }
    return firstOutside(.target, from: at, to: end)
  }

  func first(_ byte: UInt8, from: Int, to end: Int) -> Int? {
    let pattern = UInt64(byte) &* 0x0101_0101_0101_0101
    var at = from
    while at &+ 8 <= end {
      let word = word(at: at) ^ pattern
      if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { break }
      at &+= 8
    }
    while at < end {
      if self[at] == byte { return at }
      at &+= 1
    }
    return nil
  }

  /// Whether the bytes of `range` are those of a lower-case literal, letters compared without case.
  @inline(__always) func equalsIgnoringCase(_ range: Range<Int>, _ literal: StaticString) -> Bool {
    guard range.count == literal.utf8CodeUnitCount else { return false }
    for index in 0..<range.count {
      let byte = self[range.lowerBound + index]
      let lower = byte &- 0x41 <= 25 ? byte | 0x20 : byte
      // Safe: index is below the literal's count.
      guard lower == literal.utf8Start[index] else { return false }
    }
    return true
  }

  @inline(__always) func equals(_ range: Range<Int>, _ literal: StaticString) -> Bool {
    guard range.count == literal.utf8CodeUnitCount else { return false }
    for index in 0..<range.count {
      // Safe: index is below the literal's count.
      guard self[range.lowerBound + index] == literal.utf8Start[index] else { return false }
    }
    return true
  }

  /// `1*DIGIT` up to 2^63-1 (RFC 9110 §8.6); `nil` for anything else.
  func contentLength(_ range: Range<Int>) -> UInt64? { decimal(range, atMost: UInt64(Int64.max)) }
}
