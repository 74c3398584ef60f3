import PawlHTTP

extension StoredHead {
  /// Removes fields that contradict a stored response, or that pawl writes into each answer itself, whatever the origin sent:
  /// - `Content-Range`, which belongs into a 206 and a 416 only (RFC 9110 §14.4): parts get their own;
  /// - lines of a field with one value (RFC 9110 §5.3) that came twice: it is unknown which of two tags or dates names the
  ///   bytes;
  /// - `X-Request-Id`, which identifies the request that filled the cache and no other;
  /// - `Alt-Svc`, which leads clients past pawl, and is not relayed either.
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

  /// Whether this response is for every request that pawl sends on with `Accept-Encoding: identity`, whatever the client accepts:
  /// no other field selected it, and it was fetched with `identity`. A response from before a reload may have been selected by a
  /// client's own `Accept-Encoding`.
  package var isOfIdentityRequests: Bool {
    guard vary.names == [Self.acceptEncoding] else { return vary.names.isEmpty && !vary.isStar }
    var asked = Fields()
    asked.append(.acceptEncoding, literal: "identity")
    return !vary.isStar && vary.selectingValues(in: asked) == selecting
  }

  private static let acceptEncoding = Array("accept-encoding".utf8)
}
