package import PawlHTTP

/// Whether what is kept of a response for one request is what the origin gives to another: asked with the other's own
/// credentials, the origin says so by its strong tag, or its answer is held against what is kept, byte by byte.
package enum PrivateProof {
  /// What a plain request for it is sent with: `If-None-Match` and the origin's strong tag. Nothing where there is none: a
  /// date, or a weak tag, may be the same for every user of a page.
  package static func conditions(for stored: StoredHead) -> [(FieldName, [UInt8])] {
    guard let tag = stored.validators.tag, !tag.isWeak else { return [] }
    return [(.ifNoneMatch, tag.bytes)]
  }

  /// Whether the answer says that these bytes are the asker's: a 304 that names their strong tag (RFC 9110 §15.4.5 has it
  /// name one; RFC 9111 §4.3.4).
  package static func isProven(by answer: ResponseHead, _ stored: StoredHead) -> Bool {
    answer.status == 304 && stored.isNamedStrongly(by: answer.fields)
  }

  /// Whether bytes under this head may turn out to be those of the other, if all of them are compared.
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

  /// What describes the bytes, and is the same for whoever has them; everything else of a head is its own request's.
  private static let describing = FieldNameSet([
    .contentType, .contentEncoding, .contentLanguage, .etag, .lastModified, .cacheControl, .cdnCacheControl, .expires,
    .vary, .date,
  ])

  /// The head under which the asker gets the bytes after a 304: what that said, and of the stored one what describes bytes.
  /// - Parameters:
  ///   - request: the asker's.
  ///   - requestTime, responseTime: of the question; wall clock, seconds since 1970.
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
