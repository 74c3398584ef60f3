import PawlHTTP

/// Recognises the names of ``FieldName`` directly in the read buffer, eight bytes at a time, without allocating. The parser keeps
/// a copy, so that a look-up reads no lazily initialised global.
struct KnownFieldNames: Sendable {
  static let shared = KnownFieldNames()

  /// A name of at most 32 bytes as words of eight bytes, letters in lower case. The last word may overlap the word before it.
  struct Key: Equatable {
    var count: Int
    var first: UInt64 = 0, second: UInt64 = 0, third: UInt64 = 0, last: UInt64

    /// `range` holds 1 to 32 token bytes and ends at least eight bytes into the span.
    @inline(__always) init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
      count = range.count
      let tail = bytes.lowerCaseWord(at: range.upperBound &- 8)
      guard count >= 8 else {
        last = tail >> UInt64(truncatingIfNeeded: 64 &- count &* 8)
        return
      }
      last = tail
      first = bytes.lowerCaseWord(at: range.lowerBound)
      if count > 16 { second = bytes.lowerCaseWord(at: range.lowerBound &+ 8) }
      if count > 24 { third = bytes.lowerCaseWord(at: range.lowerBound &+ 16) }
    }

    @inline(__always) var slot: Int {
      let mixed = (first &+ UInt64(truncatingIfNeeded: count)) &* 0x9e37_79b9_7f4a_7c15 ^ last &* 0xc2b2_ae3d_27d4_eb4f
      return Int(truncatingIfNeeded: ((mixed ^ (mixed >> 29)) &* 0x9e37_79b9_7f4a_7c15) >> 54)
    }
  }

  private static let mask = 1023, longest = 32
  /// For each slot, the position in `names` and `keys` plus 1; 0 for an empty slot.
  private var slots = [UInt8](repeating: 0, count: mask + 1)
  private var names: [FieldName] = []
  private var keys: [Key] = []

  private init() {
    for name in FieldName.allCases where name.spelling.utf8CodeUnitCount > 0 {
      let padded = [UInt8](repeating: 0, count: 8) + name.spelling.withUTF8Buffer { Array($0) }
      let key = Key(padded.span, 8..<padded.count)
      var slot = key.slot
      while slots[slot] != 0 { slot = (slot + 1) & Self.mask }
      names.append(name)
      keys.append(key)
      slots[slot] = UInt8(names.count)
    }
  }

  /// Finds the known name that a token spells. Names are compared with the case bit (0x20) set in each byte. This is exact: of
  /// the bytes that a token may have, only letters, digits and hyphens then become a letter, a digit or a hyphen.
  func find(_ bytes: Span<UInt8>, _ range: Range<Int>) -> FieldName {
    guard !range.isEmpty, range.count <= Self.longest else { return .other }
    guard range.upperBound >= 8 else {
      let padded = [UInt8](repeating: 0, count: 8) + bytes.copied(range)
      return find(padded.span, 8..<padded.count)
    }
    let key = Key(bytes, range)
    var slot = key.slot
    while slots[slot] != 0 {
      let index = Int(slots[slot]) &- 1
      if keys[index] == key { return names[index] }
      slot = (slot &+ 1) & Self.mask
    }
    return .other
  }
}

extension Span<UInt8> {
  @inline(__always) func word(at start: Int) -> UInt64 {
    // Safe: any eight bytes are a UInt64, and the span checks its bounds.
    UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
  }

  @inline(__always) func lowerCaseWord(at start: Int) -> UInt64 { word(at: start) | 0x2020_2020_2020_2020 }

  /// The offset of the first byte that is neither a letter nor a hyphen. The result may be smaller than that, because the last
  /// bytes before `end` are not read. Almost every field name has only letters and hyphens.
  @inline(__always) func endOfPlainName(from: Int, to end: Int) -> Int {
    var at = from
    while at &+ 8 <= end {
      let word = word(at: at)
      let lower = (word | 0x2020_2020_2020_2020) & 0x7f7f_7f7f_7f7f_7f7f
      let hyphen = (word ^ 0x2d2d_2d2d_2d2d_2d2d) & 0x7f7f_7f7f_7f7f_7f7f
      let letters = (lower &+ 0x1f1f_1f1f_1f1f_1f1f) & ~(lower &+ 0x0505_0505_0505_0505)
      let hyphens = ~(hyphen &+ 0x7f7f_7f7f_7f7f_7f7f)
      let others = ~((letters | hyphens) & ~word) & 0x8080_8080_8080_8080
      guard others == 0 else { return at &+ others.trailingZeroBitCount >> 3 }
      at &+= 8
    }
    return at
  }
}
