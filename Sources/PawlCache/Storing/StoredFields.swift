import PawlHTTP

extension StoredHead {
  /// What contradicts a stored response, or what pawl itself says of each answer, whatever the origin meant by it:
  /// - `Content-Range`, which means something in a 206 and a 416 only (RFC 9110 §14.4): parts get one of their own;
  /// - lines of a field that has one value (RFC 9110 §5.3) and tells two: which of two tags, or dates, names the bytes?
  /// - `X-Request-Id`, which is the identifier of the request that filled the cache and of no other;
  /// - `Alt-Svc`, which leads past pawl, and is not relayed either.
  static func consistent(_ fields: Fields, status: Int) -> Fields {
    guard fields.mayContain(anyOf: suspects) else { return fields }
    var fields = fields
    if status != 416 { fields.removeAll(.contentRange) }
    for name in singular where fields.count(of: name) > 1 { fields.removeAll(name) }
    fields.removeAll(.xRequestID)
    fields.removeAll(.altSvc)
    return fields
  }

  private static let singular: [FieldName] = [.etag, .lastModified, .date]
  private static let suspects = FieldNameSet(singular + [.contentRange, .xRequestID, .altSvc])

  /// Whether every request is given it that is sent on with `Accept-Encoding: identity` whatever its client accepts: nothing
  /// else chose it, and it was fetched like that. What was fetched before a reload may have been chosen by a client's own.
  package var isOfIdentityRequests: Bool {
    guard vary.names == [Self.acceptEncoding] else { return vary.names.isEmpty && !vary.isStar }
    var asked = Fields()
    asked.append(.acceptEncoding, literal: "identity")
    return !vary.isStar && vary.selectingValues(in: asked) == selecting
  }

  private static let acceptEncoding = Array("accept-encoding".utf8)
}
