/// Some of the known field names, one bit each by their raw values. To ask it, and to tell it of a field line, is a call
/// from other modules, whatever is written here (the compiler inlines there only what is public), but one of few
/// instructions.
package struct FieldNameSet: Sendable, ExpressibleByArrayLiteral {
  private var bits: UInt128 = 0

  package init() {}

  package init(_ names: [FieldName]) { for name in names { insert(name) } }

  package init(arrayLiteral names: FieldName...) { self.init(names) }

  /// There are fewer names than bits, so that nothing is shifted out.
  private static func bit(_ name: FieldName) -> UInt128 {
    1 &<< UInt128(truncatingIfNeeded: name.rawValue)
  }

  package mutating func insert(_ name: FieldName) { bits |= Self.bit(name) }
  package mutating func remove(_ name: FieldName) { bits &= ~Self.bit(name) }
  package func contains(_ name: FieldName) -> Bool { bits & Self.bit(name) != 0 }
  package mutating func subtract(_ other: FieldNameSet) { bits &= ~other.bits }
  package func isDisjoint(with other: FieldNameSet) -> Bool { bits & other.bits == 0 }

  package func union(_ other: FieldNameSet) -> FieldNameSet {
    var both = self
    both.bits |= other.bits
    return both
  }
}
