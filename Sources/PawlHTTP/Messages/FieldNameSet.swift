/// A set of known field names, one bit for each. Its methods are not inlined into other modules (the compiler inlines only public
/// ones), but are calls of few instructions.
package struct FieldNameSet: Sendable, ExpressibleByArrayLiteral {
  // Two words instead of `UInt128`: an object with a `UInt128`, such as a head, needs a larger alignment, and its allocation
  // costs three times as much.
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  package init() {}

  package init(_ names: [FieldName]) { for name in names { insert(name) } }

  package init(arrayLiteral names: FieldName...) { self.init(names) }

  /// Whether the name is in the high word. There are fewer names than bits, so no bit is lost.
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
