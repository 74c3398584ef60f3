package import PawlHTTP

/// What of a head over HTTP/2 matters when it asks for a representation as it is: the same as over HTTP/1.1
/// (``RequestParser``), as ranges of the octets it came with.
package struct HTTP2PlainGet: Sendable {
  package let octets: [UInt8]
  let lines: [FieldLine]
  /// In lower case.
  package let authority: Range<Int>
  package let target: Range<Int>
  /// The value of the one `X-Request-Id` field.
  package let requestID: Range<Int>?
  package let hasCookie: Bool
  /// Whether a proxy in front says what its client speaks.
  package let namesScheme: Bool

  /// Where the value of the first line with this name stands.
  package func first(_ name: FieldName) -> Range<Int>? {
    let wanted = name.rawValue
    for line in lines where line.name.rawValue == wanted { return line.valueRange }
    return nil
  }
}

/// Which of the known names a head holds, one bit each.
struct FieldNameSet: Sendable {
  private(set) var bits: UInt128 = 0

  init() {}
  init(_ names: [FieldName]) { for name in names { insert(name) } }

  @inline(__always) mutating func insert(_ name: FieldName) { bits |= 1 << UInt128(truncatingIfNeeded: name.rawValue) }
  @inline(__always) func contains(_ name: FieldName) -> Bool {
    bits & (1 << UInt128(truncatingIfNeeded: name.rawValue)) != 0
  }
  @inline(__always) func isDisjoint(with other: FieldNameSet) -> Bool { bits & other.bits == 0 }

  /// Whatever asks for more than the representation as it is.
  static let special = FieldNameSet([
    .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .cacheControl, .pragma,
    .authorization, .expect, .upgrade, .te, .via, .contentLength,
  ])
}
