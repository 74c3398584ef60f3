extension MetricFamily {
  /// What the metric counts, in one line.
  var help: StaticString {
    switch self {
    case .build, .requests, .requestDuration, .requestFirstByte, .bytes, .bytesSaved, .clientResumes, .fillResumes,
      .fillFailures, .transfersActive, .transfersEnded, .rejected:
      helpOfTransfers
    case .uploads, .spoolBytes, .spoolLimit, .forwardAttempts, .forwardUnknown, .deliveryDuration,
      .deliveriesWaiting, .cacheBytes, .cacheLimit, .cacheMemory, .cacheObjects, .cacheEvictions, .cacheMended,
      .cacheDropped, .diskFree:
      helpOfStores
    case .originDefects, .originRequests, .originResponses, .originFailures, .originRetries, .originFirstByte,
      .originBytes, .originConnections, .originConnectionsOpened, .originConnectionsReused, .originWaiting,
      .originLive, .nodeUp:
      helpOfOrigins
    default: helpOfProcess
    }
  }

  private var helpOfTransfers: StaticString {
    switch self {
    case .build: "The version of pawl and of the libraries it uses."
    case .requests: "Requests of clients that are over, by status and by how the cache was used."
    case .requestDuration: "The time from the first byte of a request to the last byte of its response."
    case .requestFirstByte: "The time from the first byte of a request to the first byte of its response."
    case .bytes: "Bytes of content, by direction and source."
    case .bytesSaved: "Bytes that did not have to be sent again, by what saved them."
    case .clientResumes: "Downloads and uploads that clients went on with."
    case .fillResumes: "Fetches that went on after their origin broke off, by the reason of the break."
    case .fillFailures: "Fills that ended without their content."
    case .transfersActive: "Transfers that run now."
    case .transfersEnded: "Requests of clients that are over, by the side that ended them."
    default: "Connections, requests and uploads that were turned away at a limit."
    }
  }

  private var helpOfStores: StaticString {
    switch self {
    case .uploads: "Uploads in the spool."
    case .spoolBytes: "Bytes of uploads: stored, or reserved for content on its way."
    case .spoolLimit: "The most bytes of all uploads together."
    case .forwardAttempts: "Attempts to deliver an upload to the application, by result."
    case .forwardUnknown: "Deliveries of which nobody knows whether the application took them."
    case .deliveryDuration: "The time that an attempt to deliver an upload took."
    case .deliveriesWaiting: "Completed uploads that wait for their delivery."
    case .cacheBytes: "Bytes in the cache: of stored responses, or reserved for fills."
    case .cacheLimit: "The most bytes that the cache may have."
    case .cacheMemory: "Bytes of small stored responses in memory."
    case .cacheObjects: "Keys under which responses are stored."
    case .cacheEvictions: "Stored responses that were removed to make room."
    case .cacheMended: "Stored responses that lost bytes because these were damaged or missing on disk."
    case .cacheDropped: "Stored responses that were dropped because none of their bytes could be trusted."
    default: "Bytes free on the file system of a cache or spool."
    }
  }

  private var helpOfOrigins: StaticString {
    switch self {
    case .originDefects: "Faults of an application that pawl made up for, by kind."
    case .originRequests: "Requests that were sent to the upstream."
    case .originResponses: "Responses of the upstream, by status."
    case .originFailures: "Requests to the upstream that failed, by reason."
    case .originRetries: "Requests that were sent again over another connection."
    case .originFirstByte: "The time from sending a request to the first byte of its response."
    case .originBytes: "Bytes of content received from or sent to the upstream."
    case .originConnections: "Connections to the upstream that count against max-connections, idle ones included."
    case .originConnectionsOpened: "Connections to the upstream that were made."
    case .originConnectionsReused: "Requests that used a connection that was idle before."
    case .originWaiting: "Requests that wait for a connection to the upstream."
    case .originLive: "Event streams and tunnels to the upstream."
    default: "Whether a node of the upstream is taken as working."
    }
  }

  private var helpOfProcess: StaticString {
    switch self {
    case .connectionsAccepted: "Connections of clients that were accepted."
    case .connectionsActive: "Open connections of clients."
    case .connectionsLimit: "The most connections of clients (max-connections)."
    case .proxyHeadersRefused: "Connections whose PROXY header was missing, malformed or from a stranger."
    case .handshakes: "TLS handshakes with clients that were completed."
    case .certificateExpiry: "When the certificate that clients are shown expires, in seconds since 1970."
    case .handshakeFailures: "TLS handshakes with clients that failed."
    case .http2Streams: "Requests over HTTP/2."
    case .http2Aborted: "Connections of HTTP/2 that ended because of a flood or a protocol error."
    case .turnDuration: "The time that a turn of an event loop took, waiting excluded."
    case .turnLongest: "The longest turn of the event loop since the start."
    case .workWaiting: "Work that waits for a thread of the pool."
    case .logDropped: "Log lines that were lost because their destination took no more."
    case .reloads: "Reloads of the configuration, by result."
    case .reloadWorked: "Whether the last reload was applied."
    case .reloadTime: "When a configuration was last applied, in seconds since 1970."
    case .processCPU: "User and system CPU time."
    case .processMemory: "Resident memory."
    case .processVirtual: "Virtual memory."
    case .processDescriptors: "Open file descriptors."
    case .processDescriptorLimit: "The most open file descriptors."
    default: "When the process started, in seconds since 1970."
    }
  }
}
