package import PawlHTTP

/// A validator that proves that two responses have the same bytes.
package enum StrongValidator: Hashable, Sendable {
  /// A strong entity tag of the origin's.
  case tag(EntityTag)
  /// `Last-Modified`, at least 60 s older than `Date`; `bytes` is the value as the origin wrote it.
  case date(Int64, bytes: [UInt8])

  /// The value of `If-Range` (RFC 9110 §13.1.5).
  package var ifRange: [UInt8] {
    switch self {
    case .tag(let tag): tag.bytes
    case .date(_, let bytes): bytes
    }
  }
}

/// What the origin said about a representation when its transfer began. Every later response that continues the transfer has to
/// agree with these values.
package struct RepresentationIdentity: Hashable, Sendable {
  /// If `Last-Modified` is at least this many seconds older than `Date`, it names one sequence of bytes.
  package static let dateMargin: Int64 = 60

  /// The length in bytes, after the content coding was applied; `nil` while unknown.
  package var total: UInt64?
  /// The origin's tag, strong or weak; never a tag that pawl made.
  package var tag: EntityTag?
  /// `Last-Modified`, seconds since 1970.
  package var lastModified: Int64?
  package var lastModifiedIsStrong: Bool
  /// `Last-Modified` as the origin wrote it; sent back in `If-Range`.
  package var lastModifiedBytes: [UInt8]?
  /// The content codings in lower case, the outermost last; `nil` for identity.
  package var contentEncoding: [UInt8]?
  package var contentType: [UInt8]?

  /// Reads the identity from a 200, or from a 206 whose `Content-Range` gives the total.
  /// - Parameter receivedAt: wall clock, seconds since 1970; replaces a missing `Date`.
  package init(head: ResponseHead, framing: BodyFraming, receivedAt: Int64) {
    let validators = Validators(head.fields, receivedAt: receivedAt)
    tag = validators.tag
    lastModified = validators.lastModified
    lastModifiedIsStrong = validators.lastModifiedIsStrong(margin: Self.dateMargin)
    lastModifiedBytes = lastModified == nil ? nil : head.fields.only(.lastModified).map { Array($0.trimmed) }
    contentEncoding = Self.codings(head.fields)
    contentType = head.fields.only(.contentType).map { Array($0.trimmed) }
    if head.status == 206 {
      total = Self.contentRange(head.fields)?.total
    } else if case .length(let length) = framing {
      total = length
    }
  }

  /// The identity of stored bytes, for a fetch that continues them after a pause or a restart.
  /// - Parameter total: the length of the stored body, when known.
  package init(stored: StoredHead, total: UInt64?) {
    let head = ResponseHead(status: 200, fields: stored.fields)
    self.init(head: head, framing: total.map { .length($0) } ?? .chunked, receivedAt: stored.responseTime)
    // A later 304 may have brought a newer `Date`. The newer `Date` does not make the old `Last-Modified` a stronger validator.
    lastModifiedIsStrong = stored.validators.lastModifiedIsStrong(margin: Self.dateMargin)
  }

  /// The validator for `If-Range`; `nil` when only a replay can prove that the bytes are the same.
  package var strongValidator: StrongValidator? {
    if let tag, !tag.isWeak { return .tag(tag) }
    guard lastModifiedIsStrong, let lastModified, let lastModifiedBytes else { return nil }
    return .date(lastModified, bytes: lastModifiedBytes)
  }

  /// The range of a 206 with exactly one valid `Content-Range` line; `nil` for anything else.
  static func contentRange(_ fields: Fields) -> ContentRange.Satisfied? {
    guard let value = fields.only(.contentRange), case .satisfied(let range)? = ContentRange.parse(value) else {
      return nil
    }
    return range
  }

  /// The content codings in lower case, the outermost last; `nil` for identity.
  package static func codings(_ fields: Fields) -> [UInt8]? {
    guard let value = fields.combined(.contentEncoding) else { return nil }
    let codings = value.split(separator: 0x2c).map { $0.trimmed.map(\.lowercasedASCII) }
      .filter { !$0.isEmpty && $0 != Array("identity".utf8) }
    return codings.isEmpty ? nil : Array(codings.joined(separator: [0x2c]))
  }
}
