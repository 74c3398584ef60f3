package import PawlHTTP

/// Why an exchange with an origin ended without a complete response.
package struct OriginFailure: Error, Hashable, Sendable {
  /// The error for `Proxy-Status`, with the status that the client gets (RFC 9209).
  package var error: ProxyError
  package var answer: Answer
  /// Whether any byte of the request had been handed to a connection. If so, the origin may have acted on the request.
  package var requestBytesSent: Bool
  /// Whether none of the bytes handed in since ``OriginExchange/markHeldBack()`` has left pawl, so that the origin has no complete
  /// request; `true` if that function was never called (``OriginExchange/lacksHeldBack``).
  package var lacksHeldBack: Bool
  /// Whether the kernel had taken the complete request.
  package var requestWasWhole = false

  /// How much of the response had come.
  package enum Answer: Hashable, Sendable {
    /// No final response head.
    case none
    /// The final response head, but not all of the content.
    case begun
    /// The complete response. Only the request could not be sent to its end (``OriginRequest/outlivesAnswer``).
    case whole
  }

  /// Whether no final response head had come.
  package var beforeHead: Bool { answer == .none }
  package var hasWholeAnswer: Bool { answer == .whole }

  package init(error: ProxyError, beforeHead: Bool, requestBytesSent: Bool, lacksHeldBack: Bool = false) {
    (self.error, self.requestBytesSent) = (error, requestBytesSent)
    answer = beforeHead ? .none : .begun
    self.lacksHeldBack = lacksHeldBack
  }
}
