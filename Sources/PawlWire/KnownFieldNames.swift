import PawlHTTP

/// Recognises field names straight from the read buffer: one probe for almost every name, no allocation.
/// It knows exactly the names of ``FieldName``; the parser keeps a copy, so that a look-up costs no lazy global.
struct KnownFieldNames: Sendable {
  static let shared = KnownFieldNames()

  private static let mask = 1023, longest = 32
  /// Position + 1 in `names`, or 0.
  private var slots = [UInt8](repeating: 0, count: mask + 1)
  private var names: [FieldName] = []
  private var lengths: [Int] = []
  /// Lower-case spellings, `longest` octets apart.
  private var spellings: [UInt8] = []

  private init() {
    for name in FieldName.allCases where name != .other {
      let spelling = name.spelling.withUTF8Buffer { $0.map { $0 | 0x20 } }
      let padding = [UInt8](repeating: 0, count: max(0, Self.longest - spelling.count))
      let octets = spelling.span
      var slot = Self.hash(octets, 0..<spelling.count)
      while slots[slot] != 0 { slot = (slot + 1) & Self.mask }
      names.append(name)
      slots[slot] = UInt8(names.count)
      lengths.append(spelling.count)
      spellings += spelling.prefix(Self.longest) + padding
    }
  }

  @inline(__always) private static func hash(_ octets: Span<UInt8>, _ range: Range<Int>) -> Int {
    let first = UInt32(octets[range.lowerBound] | 0x20)
    let last = UInt32(octets[range.upperBound &- 1] | 0x20)
    let middle = UInt32(octets[range.lowerBound &+ range.count / 2] | 0x20)
    let later = UInt32(octets[range.lowerBound &+ range.count &* 3 / 4] | 0x20)
    var mixed = UInt32(truncatingIfNeeded: range.count) &* 0x9e37_79b1 &+ first
    mixed = (mixed &* 31 &+ middle) &* 31 &+ later
    mixed = (mixed &* 31 &+ last) &* 0x85eb_ca6b
    return Int(truncatingIfNeeded: mixed >> 22)
  }

  /// `range` holds a token: with the case bit set, no other token octet turns into a letter, a digit or a hyphen.
  func find(_ octets: Span<UInt8>, _ range: Range<Int>) -> FieldName {
    guard !range.isEmpty, range.count <= Self.longest else { return .other }
    var slot = Self.hash(octets, range)
    while slots[slot] != 0 {
      let index = Int(slots[slot]) &- 1
      if lengths[index] == range.count, matches(octets, range, index &* Self.longest) { return names[index] }
      slot = (slot &+ 1) & Self.mask
    }
    return .other
  }

  @inline(__always) private func matches(_ octets: Span<UInt8>, _ range: Range<Int>, _ start: Int) -> Bool {
    for offset in 0..<range.count {
      guard octets[range.lowerBound &+ offset] | 0x20 == spellings[start &+ offset] else { return false }
    }
    return true
  }
}
