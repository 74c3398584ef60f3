package import PawlHTTP

/// Stored responses to requests with other cookies, one of which the origin may allow for this request, too. The origin is asked
/// with the request's own cookies and with the strong tags of these responses (RFC 9111 §4.3.1). A 304 with one of the tags
/// confirms that this request may have the bytes of that response. A tag in the client's request is no credential, so no byte is
/// sent before that 304.
package enum Offer {
  /// The most tags of one resource that are offered; the newest come first.
  package static let limit = 8

  /// Builds `If-None-Match` from the client's own tags and the tags of the offered responses.
  /// - Parameter own: the client's conditions, translated for the origin.
  package static func conditions(
    _ offered: [StoredHead], beside own: [(FieldName, [UInt8])]
  ) -> [(FieldName, [UInt8])] {
    // The origin ignores a date beside tags (RFC 9110 §13.1.3), so pawl evaluates the client's date when the response has
    // arrived.
    var conditions = own.filter { $0.0 != .ifNoneMatch && $0.0 != .ifModifiedSince }
    var tags = own.first { $0.0 == .ifNoneMatch }.map { [$0.1] } ?? []
    for tag in offered.compactMap(\.validators.tag?.bytes) where !tags.contains(tag) { tags.append(tag) }
    conditions.append((.ifNoneMatch, Array(tags.joined(separator: [0x2c, 0x20]))))
    return conditions
  }

  /// The index of the offered response whose strong tag the 304 has; `nil` when the 304 has none of these tags.
  package static func index(namedBy answer: ResponseHead, of offered: [StoredHead]) -> Int? {
    offered.firstIndex { PrivateProof.isProven(by: answer, $0) }
  }

  /// The head of the answer after a 304. The fields that describe the bytes (`Content-…`, `ETag`, `Last-Modified`) are those of
  /// the stored response; all others are those of the 304, which is for this request only.
  /// - Parameters:
  ///   - request: the request of the client that gets the answer.
  ///   - asSent: the fields of that request, as the origin got them.
  ///   - requestTime, responseTime: the times of the request to the origin and of its response; wall clock, seconds since 1970.
  package static func head(
    of stored: StoredHead, confirmedBy answer: ResponseHead, for request: RequestHead, asSent: Fields,
    requestTime: Int64, responseTime: Int64, asksIdentity: Bool
  ) -> StoredHead {
    var fields = answer.fields
    fields.removeAll { name, spelling, _ in describesBytes(name, spelling) }
    for line in stored.fields.lines where describesBytes(line.name, stored.fields.name(line)) {
      fields.append(named: stored.fields.name(line), stored.fields.value(line))
    }
    return StoredHead(
      request: request, asSent: asSent, response: ResponseHead(status: stored.status, fields: fields),
      requestTime: requestTime, responseTime: responseTime, storability: .sharedPerCookie, asksIdentity: asksIdentity)
  }

  private static func describesBytes(_ name: FieldName, _ spelling: Bytes) -> Bool {
    name == .etag || name == .lastModified || name == .reprDigest || name == .digest
      || spelling.prefix(8).equalsIgnoringCase("content-")
  }
}

extension StoredHead {
  /// Whether the tag of this response may be offered for a request that does not select the response. The response must have a
  /// strong tag, and must be for requests with certain cookies or for clients to whom the origin confirms it. Apart from the
  /// cookies, the request must have all values that select the response. A request with a credential is offered only responses
  /// that requests with credentials may share (RFC 9111 §3.5).
  package func mayBeOffered(to request: RequestHead, asksIdentity: Bool, asSent: () -> Fields) -> Bool {
    guard let tag = validators.tag, !tag.isWeak else { return false }
    return mayBeProven(to: request, asksIdentity: asksIdentity, asSent: asSent)
  }

  /// Like ``mayBeOffered(to:asksIdentity:asSent:)``, but without the need for a strong tag, because the bytes of the origin's
  /// response are compared with the stored bytes.
  package func mayBeProven(to request: RequestHead, asksIdentity: Bool, asSent: () -> Fields) -> Bool {
    guard status == 200, !isForEverybody, !vary.isStar,
      !RequestFields.hasCredential(request.fields) || Storability.permitsAuthorized(cacheControl)
    else { return false }
    guard !vary.names.isEmpty else { return true }
    let values = vary.selectingValues(in: Self.selectionFields(asSent(), asksIdentity: asksIdentity))
    return Self.withoutCookies(values) == Self.withoutCookies(selecting)
  }

  /// The selecting values, one line each, without the line of `Cookie`.
  private static func withoutCookies(_ values: [UInt8]) -> [ArraySlice<UInt8>] {
    values.split(separator: 0x0a).filter { !$0.hasPrefix("cookie:") && !$0.equals("cookie") }
  }
}
