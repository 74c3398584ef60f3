/// Some of the known field names, one bit each by their raw values. To ask it, and to tell it of a field line, is a call
/// from other modules, whatever is written here (the compiler inlines there only what is public), but one of few
/// instructions.
package struct FieldNameSet: Sendable, ExpressibleByArrayLiteral {
  // Two words and not `UInt128`: an object that holds one of those, a head for instance, is allocated aligned to more than
  // the allocator's usual, which costs three times as much.
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  package init() {}

  package init(_ names: [FieldName]) { for name in names { insert(name) } }

  package init(arrayLiteral names: FieldName...) { self.init(names) }

  /// There are fewer names than bits, so that nothing is shifted out.
  private static func isHigh(_ name: FieldName) -> Bool { name.rawValue >= 64 }
  private static func bit(_ name: FieldName) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: name.rawValue) }

  package mutating func insert(_ name: FieldName) {
    if Self.isHigh(name) { high |= Self.bit(name) } else { low |= Self.bit(name) }
  }

  package mutating func remove(_ name: FieldName) {
    if Self.isHigh(name) { high &= ~Self.bit(name) } else { low &= ~Self.bit(name) }
  }

  package func contains(_ name: FieldName) -> Bool { (Self.isHigh(name) ? high : low) & Self.bit(name) != 0 }

  package mutating func subtract(_ other: FieldNameSet) {
    low &= ~other.low
    high &= ~other.high
  }

  package func isDisjoint(with other: FieldNameSet) -> Bool { low & other.low | high & other.high == 0 }

  package func union(_ other: FieldNameSet) -> FieldNameSet {
    var both = self
    both.low |= other.low
    both.high |= other.high
    return both
  }
}
