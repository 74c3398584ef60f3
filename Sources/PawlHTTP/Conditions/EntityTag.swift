/// An entity tag (RFC 9110 §8.8.3).
package struct EntityTag: Hashable, Sendable {
  package var isWeak: Bool
  /// The bytes between the quotes.
  package var opaque: [UInt8]

  /// A field value that is exactly one tag; `nil` for anything else, such as a tag without quotes.
  package init?(_ value: Bytes) {
    var scanner = ByteScanner(value)
    guard let tag = scanner.entityTag(), scanner.isAtEnd else { return nil }
    self = tag
  }

  package init(strong opaque: [UInt8]) { (isWeak, self.opaque) = (false, opaque) }
  package init(weak opaque: [UInt8]) { (isWeak, self.opaque) = (true, opaque) }

  fileprivate init(isWeak: Bool, opaque: Bytes) { (self.isWeak, self.opaque) = (isWeak, Array(opaque)) }

  /// The tag as it is sent.
  package var bytes: [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(opaque.count + 4)
    if isWeak { output.append("W/" as StaticString) }
    output.append(0x22)
    output.append(contentsOf: opaque)
    output.append(0x22)
    return output
  }

  /// Strong comparison (RFC 9110 §8.8.3.2): `If-Match`, `If-Range`.
  package func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

  /// Weak comparison: `If-None-Match`.
  package func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }
}

/// The value of `If-Match` or `If-None-Match` (RFC 9110 §13.1.1, §13.1.2).
package enum EntityTagList: Hashable, Sendable {
  case any
  case tags([EntityTag])

  /// The tags of all lines of the field. `nil` when there is no line, or when the lines hold anything but tags or a lone `*`.
  package init?(_ values: [Bytes]) {
    guard !values.isEmpty else { return nil }
    if values.count == 1, values[0].trimmed.equals("*") {
      self = .any
      return
    }
    var tags: [EntityTag] = []
    for value in values where !Self.read(value, into: &tags) { return nil }
    self = .tags(tags)
  }

  /// Reads a list of tags. Tags have no escapes, so their quotes are not those of a quoted string.
  private static func read(_ line: Bytes, into tags: inout [EntityTag]) -> Bool {
    var scanner = ByteScanner(line)
    while true {
      scanner.skipBlanks()
      if scanner.isAtEnd { return true }
      if scanner.skip(0x2c) { continue }
      guard let tag = scanner.entityTag() else { return false }
      tags.append(tag)
      scanner.skipBlanks()
      guard scanner.isAtEnd || scanner.skip(0x2c) else { return false }
    }
  }
}

extension ByteScanner {
  /// `[ "W/" ] DQUOTE *etagc DQUOTE`; the `W` is upper-case.
  fileprivate mutating func entityTag() -> EntityTag? {
    let rest = rest
    let isWeak = rest.hasPrefix("W/")
    let open = rest.startIndex + (isWeak ? 2 : 0)
    guard open < rest.endIndex, rest[open] == 0x22,
      let close = rest[(open + 1)...].firstIndex(where: { $0 == 0x22 || $0 <= 0x20 || $0 == 0x7f }), rest[close] == 0x22
    else { return nil }
    advance(to: close + 1)
    return EntityTag(isWeak: isWeak, opaque: rest[open + 1..<close])
  }
}
