import PawlHTTP

extension IncomingRequest {
  /// Puts in what pawl adds to whatever it answers or forwards, in every version of HTTP: `Date`, `Via`, `X-Request-Id`,
  /// what pages of other origins may read, and that browsers are to come over TLS.
  func dress(_ head: inout ResponseHead) {
    head.addOrigin(date: loop.dateField)
    if !self.head.fields.contains(.xRequestID) { head.fields.append(.xRequestID, requestID) }
    dressForOthers(&head)
    dressForTransport(&head)
  }
}

extension ResponseHead {
  /// When, and through whom, the answer came.
  mutating func addOrigin(date: [UInt8]) {
    if !fields.contains(.date) { fields.append(.date, date) }
    Via.append(to: &fields, version: .http11)
  }

  /// These have no content, and say nothing of a length (RFC 9110 §8.6).
  func length(_ announced: ContentLength) -> ContentLength { status == 204 || status == 304 ? .none : announced }
}
