import PawlHTTP

/// The parts of a head that matter when it requests a representation without conditions, or one range of it. The parts are ranges
/// of the read buffer.
package struct PlainGet {
  package let authority: Range<Int>
  package let target: Range<Int>
  /// The value of the one `Range` field.
  package let range: Range<Int>?
  /// The value of the one `If-Range` field beside it.
  package let ifRange: Range<Int>?
  /// The value of the one `X-Request-Id` field.
  package let requestID: Range<Int>?
  package let hasCookie: Bool
  /// Whether the request has `Accept-Encoding`.
  package let acceptsCodings: Bool
  /// Whether other proxies forwarded the request (`Via`).
  package let hasVia: Bool
  /// Whether a field of a proxy in front of pawl may give the scheme or the host that the client used.
  package let namesScheme: Bool
  /// Whether the client may send further requests on this connection; else it has announced its last one (RFC 9112 §9.6).
  package let keepsAlive: Bool
}

extension RequestParser {
  /// The last parsed head, when it is a GET of HTTP/1.1 without content or conditions, and the bytes of its authority and target
  /// identify the site and the resource without changes; else `nil`.
  package func plainGet() -> PlainGet? {
    guard isGet, framing == .none, version == .http11, !targetNeedsRewriting, authorityIsLowercase,
      present.isDisjoint(with: .special)
    else { return nil }
    var (range, ifRange, requestID): (Range<Int>?, Range<Int>?, Range<Int>?)
    if contains(.range) {
      guard let only = only(.range) else { return nil }
      range = only
    }
    if contains(.ifRange) {
      // `If-Range` without `Range` is ignored (RFC 9110 §13.1.5); that is left to the full lookup.
      guard let only = only(.ifRange), range != nil else { return nil }
      ifRange = only
    }
    if contains(.xRequestID) {
      guard let only = only(.xRequestID) else { return nil }
      requestID = only
    }
    return PlainGet(
      authority: authorityRange, target: targetRange, range: range, ifRange: ifRange, requestID: requestID,
      hasCookie: contains(.cookie), acceptsCodings: contains(.acceptEncoding), hasVia: contains(.via),
      namesScheme: !present.isDisjoint(with: .namingScheme), keepsAlive: keepsAlive)
  }

  private func only(_ name: FieldName) -> Range<Int>? {
    var found: Range<Int>?
    let wanted = name.rawValue
    for line in lines where line.name.rawValue == wanted {
      guard found == nil else { return nil }
      found = line.valueRange
    }
    return found
  }
}

extension FieldNameSet {
  static let namingScheme: FieldNameSet = [.xForwardedProto, .xForwardedHost, .xForwardedPort, .forwarded, .other]

  /// The fields, such as conditions, that ask for something else than the representation or one range of it.
  static let special: FieldNameSet = [
    .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .cacheControl, .pragma, .authorization,
    .expect, .upgrade, .te,
  ]

  /// The same fields for HTTP/2. Its short way serves no ranges, and leaves requests with `Via` or `Content-Length` to the full
  /// lookup.
  static let specialOverHTTP2 = special.union([.range, .ifRange, .via, .contentLength])
}
