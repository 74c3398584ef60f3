package import PawlHTTP

/// Stored responses to requests with other cookies that a request may turn out to share. The origin is asked with the request's
/// own cookies and with the strong tags of these responses (RFC 9111 §4.3.1). A 304 with one of the tags confirms that this
/// request may have its bytes. A tag is no credential: no byte is sent before that.
package enum Offer {
  /// The most tags that are offered of one resource; the newest come first.
  package static let limit = 8

  /// Builds `If-None-Match` from the client's own tags and the tags of the offered responses.
  /// - Parameter own: the client's conditions, translated for the origin.
  package static func conditions(
    _ offered: [StoredHead], beside own: [(FieldName, [UInt8])]
  ) -> [(FieldName, [UInt8])] {
    // Beside tags a date is ignored (RFC 9110 §13.1.3): the client's date is evaluated when the response is here.
    var conditions = own.filter { $0.0 != .ifNoneMatch && $0.0 != .ifModifiedSince }
    var tags = own.first { $0.0 == .ifNoneMatch }.map { [$0.1] } ?? []
    for tag in offered.compactMap(\.validators.tag?.bytes) where !tags.contains(tag) { tags.append(tag) }
    conditions.append((.ifNoneMatch, Array(tags.joined(separator: [0x2c, 0x20]))))
    return conditions
  }

  /// The index of the offered response whose strong tag the 304 has; `nil` when it has none of them.
  package static func index(namedBy answer: ResponseHead, of offered: [StoredHead]) -> Int? {
    offered.firstIndex { PrivateProof.isProven(by: answer, $0) }
  }

  /// The head of the answer after a 304. The fields that describe the bytes (`Content-…`, `ETag`, `Last-Modified`) are those of
  /// the stored response; all others are those of the 304, which is for this request only.
  /// - Parameters:
  ///   - request: of the client that gets the answer.
  ///   - asSent: its fields as the origin got them.
  ///   - requestTime, responseTime: of the request to the origin; wall clock, seconds since 1970.
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
  /// Whether the tag of this response may be offered for a request that does not select it. The response has a strong tag; it is
  /// for requests with certain cookies, or for clients to whom the origin confirms it; and all else that selects a response
  /// agrees. A request with a credential is offered only responses that requests with credentials may share (RFC 9111 §3.5).
  package func mayBeOffered(to request: RequestHead, asksIdentity: Bool, asSent: () -> Fields) -> Bool {
    guard let tag = validators.tag, !tag.isWeak else { return false }
    return mayBeProven(to: request, asksIdentity: asksIdentity, asSent: asSent)
  }

  /// As ``mayBeOffered(to:asksIdentity:asSent:)``, without the tag: the origin's response may be compared with the stored bytes.
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
