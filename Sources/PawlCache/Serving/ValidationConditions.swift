package import PawlHTTP

extension StoredHead {
  /// Whether the response has a validator, so that it can be revalidated instead of fetched again.
  package var canBeValidated: Bool { validators.tag != nil || validators.lastModified != nil }

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
