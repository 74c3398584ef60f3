import PawlHTTP
import Testing

@Suite("Proxy-Status (RFC 9209)") struct ProxyStatusTests {
  private static let statuses: [String: Int] = [
    "dns_timeout": 504, "dns_error": 502, "destination_not_found": 500, "destination_unavailable": 503,
    "destination_ip_prohibited": 502, "destination_ip_unroutable": 502, "connection_refused": 502,
    "connection_terminated": 502, "connection_timeout": 504, "connection_read_timeout": 504,
    "connection_write_timeout": 504, "connection_limit_reached": 503, "tls_protocol_error": 502,
    "tls_certificate_error": 502, "tls_alert_received": 502, "http_request_error": 400, "http_request_denied": 403,
    "http_response_incomplete": 502, "http_response_header_section_size": 502, "http_response_header_size": 502,
    "http_response_body_size": 502, "http_response_trailer_section_size": 502, "http_response_trailer_size": 502,
    "http_response_transfer_coding": 502, "http_response_content_coding": 502, "http_response_timeout": 504,
    "http_upgrade_failed": 502, "http_protocol_error": 502, "proxy_internal_response": 500, "proxy_internal_error": 500,
    "proxy_configuration_error": 500, "proxy_loop_detected": 502, "incremental_refused": 501,
  ]

  @Test("each type has the status of RFC 9209 §2.3", arguments: ProxyError.Kind.allCases)
  func status(_ kind: ProxyError.Kind) {
    #expect(ProxyError(kind).status == Self.statuses[kind.rawValue])
    #expect(ProxyError(kind).fieldValue.text == "pawl; error=\(kind.rawValue)")
  }

  @Test("no type is missing") func complete() { #expect(ProxyError.Kind.allCases.count == Self.statuses.count) }

  @Test("details are one string, whatever is in them") func details() {
    let error = ProxyError(.connectionRefused, details: "say \"hi\\\"\r\n\u{e4}", receivedStatus: 503)
    #expect(
      error.fieldValue.text
        == #"pawl; error=connection_refused; received-status=503; details="say \"hi\\\"????""#)
    var message = fields(("Proxy-Status", "cdn; error=dns_error"))
    error.append(to: &message)
    #expect(message.all(.proxyStatus).map(\.text) == ["cdn; error=dns_error", error.fieldValue.text])
  }
}
