import PawlBase

/// The reason why pawl could not forward a message correctly; a member of `Proxy-Status` (RFC 9209).
package struct ProxyError: Error, Hashable, Sendable {
  /// The error types of RFC 9209 §2.3, and of draft-ietf-httpbis-incremental.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case dnsTimeout = "dns_timeout"
    case dnsError = "dns_error"
    case destinationNotFound = "destination_not_found"
    case destinationUnavailable = "destination_unavailable"
    case destinationIPProhibited = "destination_ip_prohibited"
    case destinationIPUnroutable = "destination_ip_unroutable"
    case connectionRefused = "connection_refused"
    case connectionTerminated = "connection_terminated"
    case connectionTimeout = "connection_timeout"
    case connectionReadTimeout = "connection_read_timeout"
    case connectionWriteTimeout = "connection_write_timeout"
    case connectionLimitReached = "connection_limit_reached"
    case tlsProtocolError = "tls_protocol_error"
    case tlsCertificateError = "tls_certificate_error"
    case tlsAlertReceived = "tls_alert_received"
    case httpRequestError = "http_request_error"
    case httpRequestDenied = "http_request_denied"
    case httpResponseIncomplete = "http_response_incomplete"
    case httpResponseHeaderSectionSize = "http_response_header_section_size"
    case httpResponseHeaderSize = "http_response_header_size"
    case httpResponseBodySize = "http_response_body_size"
    case httpResponseTrailerSectionSize = "http_response_trailer_section_size"
    case httpResponseTrailerSize = "http_response_trailer_size"
    case httpResponseTransferCoding = "http_response_transfer_coding"
    case httpResponseContentCoding = "http_response_content_coding"
    case httpResponseTimeout = "http_response_timeout"
    case httpUpgradeFailed = "http_upgrade_failed"
    case httpProtocolError = "http_protocol_error"
    case proxyInternalResponse = "proxy_internal_response"
    case proxyInternalError = "proxy_internal_error"
    case proxyConfigurationError = "proxy_configuration_error"
    case proxyLoopDetected = "proxy_loop_detected"
    case incrementalRefused = "incremental_refused"
  }

  package var kind: Kind
  /// One short line for the log, and for trusted proxies in front of pawl. It may name addresses of the inside.
  package var details: String?
  /// The status of the origin's response, if there was one.
  package var receivedStatus: Int?
  /// The number of the TLS alert that the origin sent (RFC 9209 §2.3.16).
  package var alert: UInt8?

  package init(_ kind: Kind, details: String? = nil, receivedStatus: Int? = nil) {
    (self.kind, self.details, self.receivedStatus) = (kind, details, receivedStatus)
  }

  /// The status of the response when nothing has been sent to the client yet.
  package var status: Int {
    switch kind {
    case .httpRequestError: 400
    case .httpRequestDenied: 403
    case .destinationNotFound, .proxyInternalResponse, .proxyInternalError, .proxyConfigurationError: 500
    case .incrementalRefused: 501
    case .destinationUnavailable, .connectionLimitReached: 503
    case .dnsTimeout, .connectionTimeout, .connectionReadTimeout, .connectionWriteTimeout, .httpResponseTimeout: 504
    case .dnsError, .destinationIPProhibited, .destinationIPUnroutable, .connectionRefused, .connectionTerminated,
      .tlsProtocolError, .tlsCertificateError, .tlsAlertReceived, .httpResponseIncomplete,
      .httpResponseHeaderSectionSize, .httpResponseHeaderSize, .httpResponseBodySize,
      .httpResponseTrailerSectionSize, .httpResponseTrailerSize, .httpResponseTransferCoding,
      .httpResponseContentCoding, .httpUpgradeFailed, .httpProtocolError, .proxyLoopDetected:
      502
    }
  }

  /// `pawl; error=connection_refused; details="..."`
  package var fieldValue: [UInt8] {
    var output: [UInt8] = []
    output.append("pawl; error=" as StaticString)
    output.append(contentsOf: kind.rawValue.utf8)
    if let receivedStatus {
      output.append("; received-status=" as StaticString)
      output.append(decimal: UInt64(max(receivedStatus, 0)))
    }
    if let alert {
      output.append("; alert-id=" as StaticString)
      output.append(decimal: UInt64(alert))
    }
    if let details {
      output.append("; details=" as StaticString)
      output.append(structuredString: details.utf8)
    }
    return output
  }

  /// Appends the member after the members of proxies nearer to the origin.
  package func append(to fields: inout Fields) { fields.append(.proxyStatus, fieldValue) }
}
