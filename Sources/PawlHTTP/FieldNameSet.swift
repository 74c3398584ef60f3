/// Some of the known field names, one bit each by their raw values. It is asked several times for each message and told
/// of each field line, mostly by other modules: hence inlinable, so that it is a few instructions and no call there too.
package struct FieldNameSet: Sendable, ExpressibleByArrayLiteral {
  @usableFromInline var bits: UInt128 = 0

  @inlinable @inline(__always) package init() {}

  package init(arrayLiteral names: FieldName...) { for name in names { insert(name) } }

  /// There are fewer names than bits, so that nothing is shifted out.
  @inlinable @inline(__always) static func bit(_ name: FieldName) -> UInt128 {
    1 &<< UInt128(truncatingIfNeeded: name.rawValue)
  }

  @inlinable @inline(__always) package mutating func insert(_ name: FieldName) { bits |= Self.bit(name) }
  @inlinable @inline(__always) package mutating func remove(_ name: FieldName) { bits &= ~Self.bit(name) }
  @inlinable @inline(__always) package func contains(_ name: FieldName) -> Bool { bits & Self.bit(name) != 0 }
  @inlinable @inline(__always) package func isDisjoint(with other: FieldNameSet) -> Bool { bits & other.bits == 0 }

  package func union(_ other: FieldNameSet) -> FieldNameSet {
    var both = self
    both.bits |= other.bits
    return both
  }
}
