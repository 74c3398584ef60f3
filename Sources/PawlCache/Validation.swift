package import PawlHTTP

extension StoredHead {
  /// Whether the origin can be asked if this is still right; else it can only be fetched again.
  package var canBeValidated: Bool { validators.tag != nil || validators.lastModified != nil }

  /// Makes a request one that validates this response (RFC 9111 §4.3.1): the client's own conditions and range go, the
  /// origin's validators come, as it wrote them.
  package func makeConditional(_ fields: inout Fields) {
    fields.removeAll { name, _, _ in
      switch name {
      case .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, .range: true
      default: false
      }
    }
    if validators.tag != nil, let tag = self.fields.only(.etag) { fields.append(.ifNoneMatch, tag.trimmed) }
    if validators.lastModified != nil, let date = self.fields.only(.lastModified) {
      fields.append(.ifModifiedSince, date.trimmed)
    }
  }
}
