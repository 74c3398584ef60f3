import PawlHTTP

/// Media types as they are compared: without case, without parameters (RFC 9110 §8.3.1).
enum MediaType {
  /// `type/subtype` of a `Content-Type`.
  static func essence(_ value: Bytes) -> Bytes { value.prefix { $0 != 0x3b }.trimmed }

  /// Of an append in the drafts, since -04.
  static func isPartialUpload(_ value: Bytes) -> Bool {
    essence(value).equalsIgnoringCase("application/partial-upload")
  }

  /// Whether it tells how content is uploaded, and not what it is.
  static func isOfProtocol(_ value: Bytes) -> Bool {
    isPartialUpload(value) || essence(value).equalsIgnoringCase("application/offset+octet-stream")
  }
}
