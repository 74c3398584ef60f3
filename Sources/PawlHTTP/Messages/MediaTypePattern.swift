/// Some media types (RFC 9110 §8.3.1): one, `text/*`, or `application/*+json` for those with that suffix (RFC 6838 §4.2.8).
package struct MediaTypePattern: Hashable, Sendable {
  /// Lower-case. All of it where there is no star, else what stands before and behind that.
  private let start: [UInt8], end: [UInt8]
  /// Whether it is one media type, without a star.
  package let isExact: Bool

  /// - Parameter text: as it is configured: a star only for the subtype or all of it before a `+`.
  package init(_ text: String) {
    let parts = text.utf8.map(\.lowercasedASCII).split(separator: 0x2a, omittingEmptySubsequences: false)
    start = Array(parts.first ?? [])
    end = parts.count > 1 ? Array(parts[1]) : []
    isExact = parts.count < 2
  }

  /// What most media types that do not match differ in: a type matches only where `mask` of its ``digest(of:)`` is `value`.
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

  /// First and last byte, in lower case, and length of a media type.
  package static func digest(of mediaType: Bytes) -> UInt32 {
    guard let first = mediaType.first, let last = mediaType.last else { return 0 }
    return UInt32(first.lowercasedASCII) | UInt32(last.lowercasedASCII) << 8
      | UInt32(truncatingIfNeeded: mediaType.count) << 16
  }

  /// Whether this media type, without its parameters, is one of them; letters are compared without case.
  package func matches(_ mediaType: Bytes) -> Bool {
    if isExact { return mediaType.equalsIgnoringCase(start) }
    return mediaType.count > start.count + end.count && mediaType.prefix(start.count).equalsIgnoringCase(start)
      && mediaType.suffix(end.count).equalsIgnoringCase(end)
  }
}

extension Fields {
  /// What `Content-Type` says without its parameters, as it is written; `nil` without the field.
  package var mediaType: Bytes? { first(.contentType).map { $0.prefix { $0 != 0x3b }.trimmed } }
}
