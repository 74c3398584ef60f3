/// A pattern of media types (RFC 9110 §8.3.1): one type, `text/*`, or `application/*+json` for a suffix (RFC 6838 §4.2.8).
package struct MediaTypePattern: Hashable, Sendable {
  /// The parts before and after the star, in lower case; without a star, `start` is the complete type.
  private let start: [UInt8], end: [UInt8]
  /// Whether the pattern is one media type, without a star.
  package let isExact: Bool

  /// - Parameter text: the pattern as configured. A star may stand only for the complete subtype, or for the part of the subtype
  ///   before a `+`.
  package init(_ text: String) {
    let parts = text.utf8.map(\.lowercasedASCII).split(separator: 0x2a, omittingEmptySubsequences: false)
    start = Array(parts.first ?? [])
    end = parts.count > 1 ? Array(parts[1]) : []
    isExact = parts.count < 2
  }

  /// A quick test that rules out most media types: a type can match only if its ``digest(of:)``, masked with `mask`, is `value`.
  package struct Mark: Hashable, Sendable {
    package let value: UInt32, mask: UInt32
  }

  package var mark: Mark {
    var (value, mask): (UInt32, UInt32) = (0, 0)
    if let first = start.first { (value, mask) = (UInt32(first), 0xff) }
    if let last = (isExact ? start : end).last { (value, mask) = (value | UInt32(last) << 8, mask | 0xff00) }
    if isExact { (value, mask) = (value | UInt32(truncatingIfNeeded: start.count) << 16, mask | 0xffff_0000) }
    return Mark(value: value, mask: mask)
  }

  /// The first and last byte of a media type, in lower case, and its length.
  package static func digest(of mediaType: Bytes) -> UInt32 {
    guard let first = mediaType.first, let last = mediaType.last else { return 0 }
    return UInt32(first.lowercasedASCII) | UInt32(last.lowercasedASCII) << 8
      | UInt32(truncatingIfNeeded: mediaType.count) << 16
  }

  /// Whether the pattern covers this media type, given without parameters. Letters are compared without case.
  package func matches(_ mediaType: Bytes) -> Bool {
    if isExact { return mediaType.equalsIgnoringCase(start) }
    return mediaType.count > start.count + end.count && mediaType.prefix(start.count).equalsIgnoringCase(start)
      && mediaType.suffix(end.count).equalsIgnoringCase(end)
  }
}

extension Fields {
  /// The media type in `Content-Type`, without parameters, in its original spelling; `nil` without the field.
  package var mediaType: Bytes? { first(.contentType).map { $0.prefix { $0 != 0x3b }.trimmed } }
}
