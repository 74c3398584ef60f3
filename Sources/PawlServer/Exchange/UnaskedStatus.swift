import PawlHTTP

extension ProxyError {
  /// What is wrong with a part of a whole that was asked for, or a 304 to a request without conditions (RFC 9110 §15.3.7, §15.4.5;
  /// protocols 8.2, rows 72 and 73); `nil` where the request asked for it, or the status is neither.
  /// - Parameter asks: whether the request to the origin had such a field.
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
