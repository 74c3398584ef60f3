package import PawlHTTP

extension StoredHead {
  /// Whether the response has a validator, so that it can be revalidated instead of fetched again.
  package var canBeValidated: Bool { validators.tag != nil || validators.lastModified != nil }

  /// Whether the origin could confirm the response to this request by a date alone, although the request names its user, and the
  /// response is for each use to be confirmed. Such a 304 could be about the user's own page of the same date.
  func isConfirmedByDateAlone(to fields: Fields) -> Bool {
    validators.tag == nil && cacheControl.noCache && !isForEverybody
      && Credentials.areShown(in: fields, besides: vary)
  }

  /// The conditions of a revalidation (RFC 9111 §4.3.1): the validators as the origin wrote them.
  package var conditions: [(FieldName, [UInt8])] {
    var conditions: [(FieldName, [UInt8])] = []
    if validators.tag != nil, let tag = fields.only(.etag) { conditions.append((.ifNoneMatch, Array(tag.trimmed))) }
    if validators.lastModified != nil, let date = fields.only(.lastModified) {
      conditions.append((.ifModifiedSince, Array(date.trimmed)))
    }
    return conditions
  }
}
