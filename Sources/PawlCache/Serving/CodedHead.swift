package import PawlHTTP

extension Fields {
  private static let acceptEncoding = Array("accept-encoding".utf8)

  /// Says that the answer depends on `Accept-Encoding` (RFC 9110 §12.5.5), unless it says so.
  package mutating func addVaryAcceptEncoding() {
    guard contains(.vary) else { return append(.vary, literal: "Accept-Encoding") }
    let rule = VaryRule(self)
    if !rule.isStar, !rule.names.contains(Self.acceptEncoding) { append(.vary, literal: "Accept-Encoding") }
  }

  /// Takes out what holds for these bytes alone, of the message and of the representation (RFC 9530 §3).
  package mutating func removeDigests() {
    removeMessageDigests()
    removeAll(.reprDigest)
    removeAll(.digest)
  }

  /// The fields of an answer as they are of a coded form of its content: the digests of the other bytes go, and its strong tag, which
  /// names those (RFC 9110 §8.8.1), becomes a weak one.
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
  /// The head of a coded form that pawl has made of this one's content: selected by whoever is given this one, whatever it accepts.
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
