import PawlHTTP

/// Compares media types, without regard to case and parameters (RFC 9110 §8.3.1).
enum MediaType {
  /// Returns `type/subtype` of a `Content-Type`.
  static func essence(_ value: Bytes) -> Bytes { value.prefix { $0 != 0x3b }.trimmed }

  /// Whether a `Content-Type` is that of an append in the drafts (since -04).
  static func isPartialUpload(_ value: Bytes) -> Bool {
    essence(value).equalsIgnoringCase("application/partial-upload")
  }

  /// Whether a `Content-Type` is that of an upload protocol, which does not describe the content itself.
  static func isOfProtocol(_ value: Bytes) -> Bool {
    isPartialUpload(value) || essence(value).equalsIgnoringCase("application/offset+octet-stream")
  }
}
