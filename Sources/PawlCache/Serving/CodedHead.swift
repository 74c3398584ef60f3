package import PawlHTTP

extension Fields {
  private static let acceptEncoding = Array("accept-encoding".utf8)

  /// Adds `Accept-Encoding` to `Vary` (RFC 9110 §12.5.5) where it is missing.
  package mutating func addVaryAcceptEncoding() {
    guard contains(.vary) else { return append(.vary, literal: "Accept-Encoding") }
    let rule = VaryRule(self)
    if !rule.isStar, !rule.names.contains(Self.acceptEncoding) { append(.vary, literal: "Accept-Encoding") }
  }

  /// Removes the digests of the message and of the representation. They are valid only for the bytes that they were computed from
  /// (RFC 9530 §3).
  package mutating func removeDigests() {
    removeMessageDigests()
    removeAll(.reprDigest)
    removeAll(.digest)
  }

  /// Changes the fields of a response to those of its coded form: the digests of the original bytes are removed, and a strong
  /// tag, which names those bytes (RFC 9110 §8.8.1), becomes a weak one.
  package mutating func becomeCoded(in coding: ContentCoding) {
    removeDigests()
    removeAll(.contentEncoding)
    append(.contentEncoding, literal: coding.name)
    addVaryAcceptEncoding()
    guard let tag = only(.etag).flatMap(EntityTag.init) else { return removeAll(.etag) }
    if !tag.isWeak { set(.etag, EntityTag(weak: tag.opaque).bytes) }
  }
}

extension StoredHead {
  /// The head of the coded form that pawl made of this content. Every request that selects this response also selects the coded
  /// form, whatever codings the request accepts.
  package func coded(in coding: ContentCoding) -> StoredHead {
    var fields = fields
    fields.becomeCoded(in: coding)
    let asked = Self.selectionFields(Fields(), asksIdentity: true)
    let isPlain = Self.varyRule(self.fields).names.isEmpty
    return StoredHead(
      status: status, fields: fields, requestTime: requestTime, responseTime: responseTime,
      bytesDate: validators.date,
      selecting: isPlain ? Self.varyRule(fields).selectingValues(in: asked) : selecting, implicitKey: implicitKey)
  }
}
