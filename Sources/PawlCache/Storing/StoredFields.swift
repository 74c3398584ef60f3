import PawlHTTP

extension StoredHead {
  /// Removes fields that contradict a stored response, or that pawl writes into each answer itself, whatever the origin sent:
  /// - `Content-Range`, which belongs only into a 206 or a 416 (RFC 9110 §14.4); an answer with a part gets its own
  ///   `Content-Range`;
  /// - `ETag`, `Last-Modified` and `Date` (fields with one value, RFC 9110 §5.3) if they came twice, because it is unknown which
  ///   of two tags or dates belongs to the bytes;
  /// - `X-Request-Id`, which identifies only the request that filled the cache;
  /// - `Alt-Svc`, which would lead clients past pawl; it is not relayed either.
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
  /// no other request field selected it, and it was fetched with `identity`. A response that was stored before a reload of the
  /// settings may have been selected by a client's own `Accept-Encoding`.
  package var isOfIdentityRequests: Bool {
    guard vary.names == [Self.acceptEncoding] else { return vary.names.isEmpty && !vary.isStar }
    var asked = Fields()
    asked.append(.acceptEncoding, literal: "identity")
    return !vary.isStar && vary.selectingValues(in: asked) == selecting
  }

  private static let acceptEncoding = Array("accept-encoding".utf8)
}
