import PawlHTTP

/// What of a head matters when it asks for a representation as it is, or for one range of it: ranges of the read buffer.
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
  /// Whether there is an `Accept-Encoding`.
  package let acceptsCodings: Bool
  /// Whether proxies have passed it on.
  package let hasVia: Bool
  /// Whether a proxy in front may say what its client speaks, or how it named the site.
  package let namesScheme: Bool
  /// Whether the client may ask more on this connection; else it has said that it sends nothing more (RFC 9112 §9.6).
  package let keepsAlive: Bool
}

extension RequestParser {
  /// The head that was read last, when it is that of a GET of HTTP/1.1 without content or conditions, and its authority and
  /// target are the keys to the site and the resource as they stand; else `nil`.
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
      // Without a range it says nothing (RFC 9110 §13.1.5): that is left to the long way.
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

  /// Conditions, and whatever else asks for more than the representation or one range of it.
  static let special: FieldNameSet = [
    .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .cacheControl, .pragma, .authorization,
    .expect, .upgrade, .te,
  ]

  /// The same for HTTP/2, whose short way gives no ranges, and leaves what came through another proxy or says how long it
  /// is to the long way.
  static let specialOverHTTP2 = special.union([.range, .ifRange, .via, .contentLength])
}
