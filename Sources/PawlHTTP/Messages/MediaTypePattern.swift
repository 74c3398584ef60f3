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

  /// What most media types that do not match differ in.
  package struct Mark: Hashable, Sendable {
    /// 0: any, as for the next two.
    @usableFromInline let count: Int, first: UInt8, last: UInt8

    /// - Parameters:
    ///   - first, last: in lower case.
    @inlinable
    package func mayMatch(count: Int, first: UInt8, last: UInt8) -> Bool {
      (self.count == 0 || self.count == count) && (self.first == 0 || self.first == first)
        && (self.last == 0 || self.last == last)
    }
  }

  package var mark: Mark {
    Mark(count: isExact ? start.count : 0, first: start.first ?? 0, last: (isExact ? start : end).last ?? 0)
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
