package import PawlHTTP

/// What is stored of the answers to requests with other cookies, as far as a request may have its bytes: the origin is asked with the
/// request's own cookies, and told the strong tags that are here (RFC 9111 §4.3.1). A 304 that names one of them says that its bytes
/// are this request's, too. A tag is no credential: nothing is given before that.
package enum Offer {
  /// So many tags of one resource are offered at most, the newest.
  package static let limit = 8

  /// `If-None-Match` with the tags of what is offered, behind those that the client names itself.
  /// - Parameter own: what the client's own conditions become at the origin.
  package static func conditions(
    _ offered: [StoredHead], beside own: [(FieldName, [UInt8])]
  ) -> [(FieldName, [UInt8])] {
    // With tags there a date is not looked at (RFC 9110 §13.1.3): whether it holds is decided when the answer is here.
    var conditions = own.filter { $0.0 != .ifNoneMatch && $0.0 != .ifModifiedSince }
    var tags = own.first { $0.0 == .ifNoneMatch }.map { [$0.1] } ?? []
    for tag in offered.compactMap(\.validators.tag?.bytes) where !tags.contains(tag) { tags.append(tag) }
    conditions.append((.ifNoneMatch, Array(tags.joined(separator: [0x2c, 0x20]))))
    return conditions
  }

  /// Which of what was offered a 304 names, by its strong tag; `nil`: none.
  package static func index(namedBy answer: ResponseHead, of offered: [StoredHead]) -> Int? {
    offered.firstIndex { PrivateProof.isProven(by: answer, $0) }
  }

  /// The head under which the one that asked gets the bytes: what describes them (`Content-…`, `ETag`, `Last-Modified`) is that of the
  /// stored answer, every other field is of the 304 to this request alone.
  /// - Parameters:
  ///   - request: the asker's.
  ///   - asSent: its fields as the origin got them.
  ///   - requestTime, responseTime: of the question; wall clock, seconds since 1970.
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
  /// Whether the origin may be told of it for a request that does not select it: it has a strong tag, is for requests with certain
  /// cookies, or for each that the origin confirms it to, and differs in nothing else from what the request would be given. One that
  /// shows a credential is offered nothing but what may be given to such (RFC 9111 §3.5).
  package func mayBeOffered(to request: RequestHead, asksIdentity: Bool, asSent: () -> Fields) -> Bool {
    guard let tag = validators.tag, !tag.isWeak else { return false }
    return mayBeProven(to: request, asksIdentity: asksIdentity, asSent: asSent)
  }

  /// The same without the tag: the origin may be asked for it, and what it gives compared.
  package func mayBeProven(to request: RequestHead, asksIdentity: Bool, asSent: () -> Fields) -> Bool {
    guard status == 200, !isForEverybody, !vary.isStar,
      !RequestFields.hasCredential(request.fields) || Storability.permitsAuthorized(cacheControl)
    else { return false }
    guard !vary.names.isEmpty else { return true }
    let values = vary.selectingValues(in: Self.selectionFields(asSent(), asksIdentity: asksIdentity))
    return Self.withoutCookies(values) == Self.withoutCookies(selecting)
  }

  /// Selecting values, each in a line of its own, without that of `Cookie`.
  private static func withoutCookies(_ values: [UInt8]) -> [ArraySlice<UInt8>] {
    values.split(separator: 0x0a).filter { !$0.hasPrefix("cookie:") && !$0.equals("cookie") }
  }
}
