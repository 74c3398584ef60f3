package import PawlHTTP

/// Finds out whether the stored bytes of one request are also the response to another request. The origin is asked with the
/// credentials of that other request. It confirms the bytes by their strong tag, or the content of its response is compared with
/// the stored bytes.
package enum PrivateProof {
  /// The conditions to add to a plain request: `If-None-Match` with the origin's strong tag; no condition if there is no such
  /// tag. A date or a weak tag is not used, because it may be the same for all users of a page.
  package static func conditions(for stored: StoredHead) -> [(FieldName, [UInt8])] {
    guard let tag = stored.validators.tag, !tag.isWeak else { return [] }
    return [(.ifNoneMatch, tag.bytes)]
  }

  /// Whether the response confirms that the bytes belong to this request. Only a 304 with the strong tag of the bytes does
  /// (RFC 9110 §15.4.5; RFC 9111 §4.3.4).
  package static func isProven(by answer: ResponseHead, _ stored: StoredHead) -> Bool {
    answer.status == 304 && stored.isNamedStrongly(by: answer.fields)
  }

  /// Whether the bytes of two responses may be equal. If so, a comparison of all bytes decides.
  /// - Parameters:
  ///   - total, otherTotal: lengths in bytes, where they are known.
  package static func mayBeEqual(_ head: StoredHead, total: UInt64?, _ other: StoredHead, otherTotal: UInt64?) -> Bool {
    guard head.status == 200, other.status == 200 else { return false }
    if let total, let otherTotal, total != otherTotal { return false }
    let (one, two) = (
      RepresentationIdentity(stored: head, total: total), RepresentationIdentity(stored: other, total: otherTotal)
    )
    return one.contentEncoding == two.contentEncoding && one.contentType == two.contentType
  }

  /// The fields that describe the bytes. These fields are the same for every client; all other fields belong to the request that
  /// the response answered.
  private static let describing = FieldNameSet([
    .contentType, .contentEncoding, .contentLanguage, .etag, .lastModified, .cacheControl, .cdnCacheControl, .expires,
    .vary, .date,
  ])

  /// The head of the answer after a 304: the fields of the 304, and from the stored response those that describe the bytes.
  /// - Parameters:
  ///   - request: the request of the client that gets the answer.
  ///   - requestTime, responseTime: the times of the request to the origin and of its response; wall clock, seconds since 1970.
  package static func head(
    of stored: StoredHead, confirmedBy answer: ResponseHead, for request: RequestHead, requestTime: Int64,
    responseTime: Int64, asksIdentity: Bool
  ) -> StoredHead {
    var fields = stored.fields
    fields.removeAll { name, _, _ in !describing.contains(name) }
    fields.removeAll(.date)
    if let date = stored.validators.date { fields.append(.date, HTTPDate.format(date)) }
    let common = StoredHead(
      request: request, response: ResponseHead(status: stored.status, fields: fields), requestTime: stored.requestTime,
      responseTime: stored.responseTime, storability: .privately, asksIdentity: asksIdentity)
    return mergeNotModified(common, answer, requestTime: requestTime, responseTime: responseTime)
  }
}
