package import PawlHTTP
import PawlLoop
package import PawlObserve

/// What of an exchange is counted for its upstream.
extension OriginExchange {
  func count(_ error: ProxyError) {
    pool.counters.addFailure(OriginFailureKind(error.kind))
    if error.kind == .httpResponseIncomplete, response.hasFinalHead { pool.counters.addDefect(.truncated) }
  }

  /// Counts a final response head. The time to the first byte is measured for requests without content only, since an origin
  /// waits for content before it answers.
  func countResponse(_ status: Int) {
    let hasContent = request.head.framing != .none && request.head.framing != .length(0)
    pool.counters.addResponse(
      status, microseconds: hasContent ? nil : sentAt.map { loop.now.microseconds(since: $0) })
  }
}

extension OriginFailureKind {
  package init(_ kind: ProxyError.Kind) {
    switch kind {
    case .dnsTimeout, .dnsError: self = .dns
    case .connectionRefused: self = .refused
    case .destinationNotFound, .destinationUnavailable, .destinationIPProhibited, .destinationIPUnroutable:
      self = .unreachable
    case .connectionTimeout, .connectionReadTimeout, .connectionWriteTimeout, .httpResponseTimeout: self = .timeout
    case .tlsProtocolError, .tlsCertificateError, .tlsAlertReceived: self = .tls
    case .connectionTerminated: self = .closed
    case .httpResponseIncomplete: self = .incomplete
    case .httpResponseHeaderSectionSize, .httpResponseHeaderSize, .httpResponseBodySize,
      .httpResponseTrailerSectionSize, .httpResponseTrailerSize, .httpResponseTransferCoding,
      .httpResponseContentCoding, .httpProtocolError:
      self = .malformed
    case .connectionLimitReached: self = .queue
    case .httpRequestError, .httpRequestDenied, .httpUpgradeFailed, .proxyInternalResponse, .proxyInternalError,
      .proxyConfigurationError, .proxyLoopDetected, .incrementalRefused:
      self = .other
    }
  }
}
