import PawlHTTP

extension ProxyError {
  /// Returns the error for a 206 to a request without a range, or for a 304 to a request without conditions (RFC 9110 §15.3.7,
  /// §15.4.5; Hygiene, "206 unasked" and "304 unasked"). Returns `nil` for other statuses, or if the request asked for the
  /// status.
  /// - Parameter asks: whether the request to the origin had this field.
  static func unasked(_ status: Int, to method: Method, asks: (FieldName) -> Bool) -> ProxyError? {
    guard method.isRetrieval else { return nil }
    let isAsked =
      switch status {
      case 206: asks(.range)
      case 304: asks(.ifNoneMatch) || asks(.ifModifiedSince)
      default: true
      }
    return isAsked ? nil : ProxyError(.httpProtocolError, receivedStatus: status)
  }
}
