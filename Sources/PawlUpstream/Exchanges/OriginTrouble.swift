package import PawlHTTP

/// A failure between pawl and an origin, and what is done about it; for the log.
package struct OriginTrouble: Sendable {
  /// The kind of the failure; the raw value is the word of the log.
  package enum Kind: String, CaseIterable, Hashable, Sendable {
    case refused
    /// The connection was reset, or broke for another reason of the network.
    case reset
    /// The origin closed the connection before it had answered, or in the middle of its response.
    case closed
    case unreachable
    case notResolved = "not-resolved"
    case connectTimeout = "connect-timeout"
    case responseTimeout = "response-timeout"
    /// Silence in the middle of a response.
    case idleTimeout = "idle-timeout"
    /// The origin took nothing of the request for too long.
    case sendTimeout = "send-timeout"
    case tls
    /// The response is malformed, or is none that the request allows.
    case badResponse = "bad-response"
    case headTooLarge = "head-too-large"
  }

  /// What is done about the failure.
  package enum Next: Hashable, Sendable {
    case triesNextAddress, triesNextNode
    /// The request is sent again: on a new connection, or to another node.
    case asksAgain, asksOtherNode
    /// The client gets this status from pawl.
    case answers(Int)
    /// The client has a part of the response; its transfer is cut.
    case cuts
    /// Something else, in words.
    case other(String)

    package var text: String {
      switch self {
      case .triesNextAddress: "tries the next address"
      case .triesNextNode: "tries the next node"
      case .asksAgain: "asks again on a new connection"
      case .asksOtherNode: "asks another node"
      case .answers(let status): "\(status) to the client"
      case .cuts: "cuts the transfer"
      case .other(let text): text
      }
    }
  }

  package var kind: Kind
  /// Index of the URL.
  package var url: Int
  package var error: ProxyError
  /// `X-Request-Id` of the request, if it concerned one.
  package var requestID: [UInt8]
  package var next: Next
  /// Whether the connection was idle before: an origin may close such a connection at any time, without any fault.
  package var isOfIdle = false

  /// `nil`: the error is no failure of an origin, but of pawl, or of its limits.
  /// - Parameter isReset: whether the connection broke, and was not closed by the origin.
  init?(_ error: ProxyError, url: Int, requestID: [UInt8], isReset: Bool = false, next: Next) {
    guard let kind = Kind(error, isReset: isReset) else { return nil }
    (self.kind, self.url, self.error, self.requestID, self.next) = (kind, url, error, requestID, next)
  }

  /// Returns the same for a connection that was idle before, or was not.
  func about(idle: Bool) -> OriginTrouble {
    var trouble = self
    trouble.isOfIdle = idle
    return trouble
  }
}

extension OriginTrouble.Kind {
  init?(_ error: ProxyError, isReset: Bool) {
    switch error.kind {
    case .connectionRefused: self = .refused
    case .connectionTerminated, .httpResponseIncomplete: self = isReset ? .reset : .closed
    case .destinationIPUnroutable, .destinationUnavailable: self = .unreachable
    case .dnsError, .dnsTimeout: self = .notResolved
    case .connectionTimeout: self = .connectTimeout
    case .httpResponseTimeout: self = .responseTimeout
    case .connectionReadTimeout: self = .idleTimeout
    case .connectionWriteTimeout: self = .sendTimeout
    case .tlsProtocolError, .tlsCertificateError, .tlsAlertReceived: self = .tls
    case .httpProtocolError, .httpResponseTransferCoding, .httpResponseContentCoding, .httpUpgradeFailed:
      self = .badResponse
    case .httpResponseHeaderSectionSize, .httpResponseHeaderSize, .httpResponseTrailerSectionSize,
      .httpResponseTrailerSize, .httpResponseBodySize:
      self = .headTooLarge
    case .destinationNotFound, .destinationIPProhibited, .connectionLimitReached, .httpRequestError, .httpRequestDenied,
      .proxyInternalResponse, .proxyInternalError, .proxyConfigurationError, .proxyLoopDetected, .incrementalRefused:
      return nil
    }
  }
}

/// The news of server errors that a node answers one after the other.
package struct ServerErrorNews: Hashable, Sendable {
  /// So many errors in a row are a streak.
  package static let streak: UInt = 5

  /// Index of the URL.
  package var url: Int
  package var status: Int
  /// The number of errors in a row; at the end of the streak, those that there were.
  package var count: UInt
  /// Whether the streak has ended, because another response came.
  package var isOver: Bool
}
