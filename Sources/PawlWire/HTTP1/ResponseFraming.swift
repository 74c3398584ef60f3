package import PawlHTTP

/// Determines where the content of a response ends (RFC 9112 §6.3).
/// - Throws: `http_protocol_error` for a length that contradicts another length or a coding, `http_response_transfer_coding`
///   for a coding that pawl cannot decode.
package func responseFraming(_ head: ResponseHead, requestMethod: Method) throws(ProxyError) -> BodyFraming {
  if requestMethod == .head || head.status < 200 || head.status == 204 || head.status == 304 { return .none }
  let length = try announcedLength(head)
  guard head.fields.contains(.transferEncoding) else { return length.map { .length($0) } ?? .untilClose }
  let codings = head.fields.all(.transferEncoding)
  guard length == nil else {
    throw framingError("The origin's answer has both Content-Length and Transfer-Encoding.")
  }
  guard head.version != .http10 else { throw framingError("The origin's HTTP/1.0 answer has a Transfer-Encoding.") }
  let joined = Array(codings.joined(separator: [Byte.comma]))
  switch TransferCoding.parse(joined.span, 0..<joined.count) {
  case .chunked: return .chunked
  case .notChunkedLast: return .untilClose
  case .malformed: throw framingError("The origin's Transfer-Encoding is malformed.")
  case .otherThenChunked:
    throw ProxyError(
      .httpResponseTransferCoding, details: "The origin's answer has a transfer coding that is not known here.")
  }
}

/// The value of `Content-Length`, also where no content follows (HEAD, 304); `nil` without the field. Equal repeated lengths
/// count once (RFC 9110 §8.6).
package func announcedLength(_ head: ResponseHead) throws(ProxyError) -> UInt64? {
  guard head.fields.contains(.contentLength) else { return nil }
  if let plain = head.fields.only(.contentLength)?.strictDecimal, plain <= UInt64(Int64.max) { return plain }
  var length: UInt64?
  for value in head.fields.all(.contentLength) {
    for element in value.split(separator: Byte.comma, omittingEmptySubsequences: false) {
      guard let count = element.trimmed.strictDecimal, count <= UInt64(Int64.max), length ?? count == count else {
        throw framingError("The origin's Content-Length is invalid or contradicts itself.")
      }
      length = count
    }
  }
  return length
}

private func framingError(_ details: String) -> ProxyError { ProxyError(.httpProtocolError, details: details) }
