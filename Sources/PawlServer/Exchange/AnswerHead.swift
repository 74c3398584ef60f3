import PawlHTTP

extension IncomingRequest {
  /// Adds the fields that pawl adds to every response, in every version of HTTP: `Date`, `Via`, `X-Request-Id`, the CORS fields
  /// of uploads, and `Strict-Transport-Security`.
  func dress(_ head: inout ResponseHead) {
    head.addOrigin(date: loop.dateField)
    if !self.head.fields.contains(.xRequestID) { head.fields.append(.xRequestID, requestID) }
    dressForOthers(&head)
    dressForTransport(&head)
  }
}

extension ResponseHead {
  /// Adds `Date`, where there is none, and `Via`.
  mutating func addOrigin(date: [UInt8]) {
    if !fields.contains(.date) { fields.append(.date, date) }
    Via.append(to: &fields, version: .http11)
  }

  /// Returns the length to announce: none for 204 and 304, which have no content (RFC 9110 §8.6).
  func length(_ announced: ContentLength) -> ContentLength { status == 204 || status == 304 ? .none : announced }
}
