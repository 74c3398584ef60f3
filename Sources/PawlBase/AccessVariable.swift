/// A variable of the access log's format: nginx's names for what pawl knows, too, and names of pawl's own for the members of its JSON
/// format.
package enum AccessVariable: String, CaseIterable, Hashable, Sendable {
  case remoteAddress = "remote_addr"
  case remotePort = "remote_port"
  case remoteUser = "remote_user"
  case timeLocal = "time_local"
  case timeISO8601 = "time_iso8601"
  /// Seconds since 1970 with milliseconds.
  case seconds = "msec"
  case request
  case requestMethod = "request_method"
  case requestURI = "request_uri"
  /// The path without the query.
  case uri
  case arguments = "args"
  case query = "query_string"
  /// `?` if the target has a query.
  case isArguments = "is_args"
  case serverProtocol = "server_protocol"
  case scheme
  /// The host without its port, in small letters.
  case host
  case httpReferer = "http_referer"
  case httpUserAgent = "http_user_agent"
  case httpHost = "http_host"
  case status
  case bodyBytesSent = "body_bytes_sent"
  case bytesSent = "bytes_sent"
  case requestLength = "request_length"
  /// Seconds with milliseconds.
  case requestTime = "request_time"
  case requestID = "request_id"
  case serverName = "server_name"
  case serverPort = "server_port"
  case upstreamAddress = "upstream_addr"
  case upstreamStatus = "upstream_status"
  case upstreamResponseTime = "upstream_response_time"
  case upstreamCacheStatus = "upstream_cache_status"
  case tlsProtocol = "ssl_protocol"
  case tlsCipher = "ssl_cipher"
  case clientSubject = "ssl_client_s_dn"
  case process = "pid"
  case pawlSite = "pawl_site"
  case pawlUpstream = "pawl_upstream"
  case pawlCache = "pawl_cache"
  case pawlDuration = "pawl_duration_us"
  case pawlBytesFromCache = "pawl_bytes_from_cache"
  case pawlBytesFromOrigin = "pawl_bytes_from_origin"
  case pawlBytesResumed = "pawl_bytes_resumed"
  case pawlBytesReplayed = "pawl_bytes_replayed"
  case pawlOriginResumes = "pawl_origin_resumes"
  case pawlEndedBy = "pawl_ended_by"
  case pawlEndReason = "pawl_end_reason"

  /// Whether the value has to be collected while the request is answered, which is done only if the format has it.
  package var isExtra: Bool {
    switch self {
    case .bytesSent, .requestLength, .serverPort, .remotePort, .scheme, .upstreamAddress, .upstreamStatus,
      .upstreamResponseTime:
      true
    default: false
    }
  }
}
