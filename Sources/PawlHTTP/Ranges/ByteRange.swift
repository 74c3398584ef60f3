/// A contiguous, non-empty run of bytes. Both ends are inclusive, as on the wire (RFC 9110 §14.1.2).
package struct ByteRange: Hashable, Sendable {
  package let first: UInt64
  package let last: UInt64

  /// `nil` when `last` is below `first`, or is `UInt64.max`, which no length can hold.
  package init?(first: UInt64, last: UInt64) {
    guard first <= last, last < .max else { return nil }
    (self.first, self.last) = (first, last)
  }

  /// The number of bytes; at least 1.
  package var count: UInt64 { last - first + 1 }

  /// The offset after the last byte.
  package var end: UInt64 { last + 1 }
}

/// One element of a `Range` field (RFC 9110 §14.1.1). Numbers above `Int64.max` are read as `Int64.max`.
package enum RangeSpec: Hashable, Sendable {
  case from(UInt64, through: UInt64?)
  /// The last bytes of the representation; the value is their number.
  case suffix(UInt64)

  package var isSuffix: Bool { if case .suffix = self { true } else { false } }

  /// The range that the element selects of `length` bytes; `nil` when it selects nothing.
  func selected(of length: UInt64) -> ByteRange? {
    guard length > 0 else { return nil }
    switch self {
    case .from(let first, let through):
      guard first < length else { return nil }
      return ByteRange(first: first, last: min(through ?? .max, length - 1))
    case .suffix(let count):
      guard count > 0 else { return nil }
      return ByteRange(first: length - min(count, length), last: length - 1)
    }
  }
}
