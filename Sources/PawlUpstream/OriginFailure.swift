package import PawlHTTP

/// Why an exchange with an origin ended without a complete response.
package struct OriginFailure: Error, Hashable, Sendable {
  /// What `Proxy-Status` says about it, and the status that goes with it (RFC 9209).
  package var error: ProxyError
  /// Whether no final response head had come.
  package var beforeHead: Bool
  /// Whether any octet of the request had been handed to a connection: the origin may have acted on it.
  package var requestBytesSent: Bool
  /// Whether nothing of what makes the request whole has left pawl: what was handed in since
  /// ``OriginExchange/markHeldBack()``, or all of it where that was never called.
  package var lacksHeldBack: Bool
  /// Whether the kernel had the whole request.
  package var requestWasWhole = false
  /// Whether the answer was complete: all that went wrong is that the request never will be
  /// (``OriginRequest/outlivesAnswer``).
  package var hasWholeAnswer = false

  package init(error: ProxyError, beforeHead: Bool, requestBytesSent: Bool, lacksHeldBack: Bool = false) {
    (self.error, self.beforeHead, self.requestBytesSent) = (error, beforeHead, requestBytesSent)
    self.lacksHeldBack = lacksHeldBack
  }
}
