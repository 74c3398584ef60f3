/// A label of a sample and its value.
package typealias MetricLabel = (name: StaticString, value: String)

/// The metrics of pawl, in the order in which they are written. The raw value is the name without the suffix that its kind adds.
package enum MetricFamily: String, CaseIterable, Sendable {
  case build = "pawl_build"
  case requests = "pawl_requests"
  case requestDuration = "pawl_request_duration_seconds"
  case requestFirstByte = "pawl_request_first_byte_seconds"
  case bytes = "pawl_bytes"
  case bytesSaved = "pawl_bytes_saved"
  case clientResumes = "pawl_client_resumes"
  case fillResumes = "pawl_fill_resumes"
  case fillFailures = "pawl_fill_failures"
  case transfersActive = "pawl_transfers_active"
  case transfersEnded = "pawl_transfers_ended"
  case rejected = "pawl_admission_rejected"

  case uploads = "pawl_uploads"
  case spoolBytes = "pawl_spool_bytes"
  case spoolLimit = "pawl_spool_limit_bytes"
  case forwardAttempts = "pawl_forward_attempts"
  case forwardUnknown = "pawl_forward_unknown"
  case deliveryDuration = "pawl_delivery_duration_seconds"
  case deliveriesWaiting = "pawl_deliveries_waiting"

  case cacheBytes = "pawl_cache_bytes"
  case cacheLimit = "pawl_cache_limit_bytes"
  case cacheMemory = "pawl_cache_memory_bytes"
  case cacheObjects = "pawl_cache_objects"
  case cacheEvictions = "pawl_cache_evictions"
  case cacheMended = "pawl_cache_mended"
  case cacheDropped = "pawl_cache_dropped"
  case diskFree = "pawl_disk_free_bytes"

  case originDefects = "pawl_origin_defects"
  case originRequests = "pawl_origin_requests"
  case originResponses = "pawl_origin_responses"
  case originFailures = "pawl_origin_failures"
  case originRetries = "pawl_origin_retries"
  case originFirstByte = "pawl_origin_first_byte_seconds"
  case originBytes = "pawl_origin_bytes"
  case originConnections = "pawl_origin_connections"
  case originConnectionsOpened = "pawl_origin_connections_opened"
  case originConnectionsReused = "pawl_origin_connections_reused"
  case originWaiting = "pawl_origin_waiting"
  case originLive = "pawl_origin_live_streams"
  case nodeUp = "pawl_node_up"

  case connectionsAccepted = "pawl_connections_accepted"
  case connectionsActive = "pawl_connections_active"
  case connectionsLimit = "pawl_connections_limit"
  case proxyHeadersRefused = "pawl_proxy_headers_refused"
  case handshakes = "pawl_tls_handshakes"
  case handshakeFailures = "pawl_tls_handshake_failures"
  case certificateExpiry = "pawl_tls_certificate_expiry_timestamp_seconds"
  case http2Streams = "pawl_http2_streams"
  case http2Aborted = "pawl_http2_connections_aborted"

  case turnDuration = "pawl_loop_turn_seconds"
  case turnLongest = "pawl_loop_longest_turn_seconds"
  case workWaiting = "pawl_worker_queue"
  case logDropped = "pawl_log_lines_dropped"
  case reloads = "pawl_config_reloads"
  case reloadWorked = "pawl_config_last_reload_successful"
  case reloadTime = "pawl_config_last_reload_success_timestamp_seconds"

  case processCPU = "process_cpu_seconds"
  case processMemory = "process_resident_memory_bytes"
  case processVirtual = "process_virtual_memory_bytes"
  case processDescriptors = "process_open_fds"
  case processDescriptorLimit = "process_max_fds"
  case processStart = "process_start_time_seconds"

  package enum Kind: Sendable {
    case counter, gauge, histogram
    /// A value of 1 whose labels say something.
    case info
  }

  package var kind: Kind {
    switch self {
    case .build: .info
    case .requestDuration, .requestFirstByte, .deliveryDuration, .originFirstByte, .turnDuration: .histogram
    case .transfersActive, .uploads, .spoolBytes, .spoolLimit, .deliveriesWaiting, .cacheBytes, .cacheLimit,
      .cacheMemory, .cacheObjects, .diskFree, .originConnections, .originWaiting, .originLive, .nodeUp,
      .certificateExpiry, .connectionsActive, .connectionsLimit, .turnLongest, .workWaiting, .reloadWorked, .reloadTime,
      .processMemory,
      .processVirtual, .processDescriptors, .processDescriptorLimit, .processStart:
      .gauge
    case .requests, .bytes, .bytesSaved, .clientResumes, .fillResumes, .fillFailures, .transfersEnded, .rejected,
      .forwardAttempts, .forwardUnknown, .cacheEvictions, .cacheMended, .cacheDropped, .originDefects,
      .originRequests, .originResponses, .originFailures, .originRetries, .originBytes, .originConnectionsOpened,
      .originConnectionsReused, .connectionsAccepted, .proxyHeadersRefused, .handshakes, .handshakeFailures,
      .http2Streams, .http2Aborted, .logDropped, .reloads, .processCPU:
      .counter
    }
  }

  /// The name of its samples, for a histogram without `_bucket`, `_sum` and `_count`.
  package var sampleName: String {
    switch kind {
    case .counter: rawValue + "_total"
    case .info: rawValue + "_info"
    case .gauge, .histogram: rawValue
    }
  }
}
