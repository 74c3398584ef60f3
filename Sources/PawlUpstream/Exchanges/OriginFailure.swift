package import PawlHTTP

/// Why an exchange with an origin ended without a complete response.
package struct OriginFailure: Error, Hashable, Sendable {
  /// What `Proxy-Status` says about it, and the status that goes with it (RFC 9209).
  package var error: ProxyError
  package var answer: Answer
  /// Whether any byte of the request had been handed to a connection: the origin may have acted on it.
  package var requestBytesSent: Bool
  /// Whether nothing of what makes the request whole has left pawl: what was handed in since
  /// ``OriginExchange/markHeldBack()``, or all of it where that was never called.
  package var lacksHeldBack: Bool
  /// Whether the kernel had the whole request.
  package var requestWasWhole = false

  /// What had come of the answer.
  package enum Answer: Hashable, Sendable {
    /// No final head.
    case none
    /// The final head.
    case begun
    /// All of it: all that went wrong is that the request never will be complete (``OriginRequest/outlivesAnswer``).
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
