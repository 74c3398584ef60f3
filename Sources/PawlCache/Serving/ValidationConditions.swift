package import PawlHTTP

extension StoredHead {
  /// Whether the origin can be asked if this is still right; else it can only be fetched again.
  package var canBeValidated: Bool { validators.tag != nil || validators.lastModified != nil }

  /// What asks the origin whether this is still right (RFC 9111 §4.3.1): its own validators, as it wrote them.
  package var conditions: [(FieldName, [UInt8])] {
    var conditions: [(FieldName, [UInt8])] = []
    if validators.tag != nil, let tag = fields.only(.etag) { conditions.append((.ifNoneMatch, Array(tag.trimmed))) }
    if validators.lastModified != nil, let date = fields.only(.lastModified) {
      conditions.append((.ifModifiedSince, Array(date.trimmed)))
    }
    return conditions
  }
}
