/// The counters of a loop, apart from requests and histograms. The raw value is the index of the cell.
package enum LoopCounter: Int, CaseIterable, Sendable {
  // Content bytes, by where they go and where they come from
  case toClientFromCache, toClientFromOrigin, toClientFromPawl
  case fromClient
  case fromOriginNew, fromOriginResumed, fromOriginReplayed, fromOriginWasted

  // Resumptions, and the bytes that they saved
  case resumedAfterReset, resumedAfterEarlyEnd, resumedAfterTimeout, resumedAfterConnect, resumedAfterTLS
  case resumedAfterStatus, resumedAfterDifference, resumedAfterOther
  case clientResumedRange, clientResumedRUFH, clientResumedTus
  case savedByClientResume, savedByFillResume, savedByCollapse

  // Transfers: how many began and ended; the difference is active
  case downloadsBegan, downloadsEnded, fillsBegan, fillsEnded, uploadsBegan, uploadsEnded
  case deliveriesBegan, deliveriesEnded, tunnelsBegan, tunnelsEnded
  case endedDone, endedByClient, endedByOrigin, endedByPawl
  case fillsFailedChanged, fillsFailedNarrower, fillsGaveUp

  // Deliveries of uploads
  case forwardAnswered, forwardNotConsumed, forwardUnreachable, forwardBroke, forwardRefused, forwardUnknown

  // Refusals
  case rejectedConnections, rejectedQueue, rejectedLive, rejectedUploadSpace, rejectedUploadCount, rejectedUploadSize
  case rejectedMinRate

  // Connections of clients
  case accepted, proxyHeaderRefused, handshakeFailed
  case handshakesTLS12, handshakesTLS12Resumed, handshakesTLS13, handshakesTLS13Resumed
  case openingsBegan, openingsEnded, http1Began, http1Ended, http2Began, http2Ended
  case http2Streams, http2Aborted

  /// The metric of this counter and its labels; `nil`: the value is used for another metric.
  var sample: (family: MetricFamily, labels: [MetricLabel])? {
    switch self {
    case .toClientFromCache: bytes("to_client", "cache")
    case .toClientFromOrigin: bytes("to_client", "origin")
    case .toClientFromPawl: bytes("to_client", "pawl")
    case .fromClient: bytes("from_client", "client")
    case .fromOriginNew: bytes("from_origin", "origin")
    case .fromOriginResumed: bytes("from_origin", "resumed")
    case .fromOriginReplayed: bytes("from_origin", "replayed")
    case .fromOriginWasted: bytes("from_origin", "wasted")
    case .resumedAfterReset: (.fillResumes, [("reason", "reset")])
    case .resumedAfterEarlyEnd: (.fillResumes, [("reason", "ended_early")])
    case .resumedAfterTimeout: (.fillResumes, [("reason", "timeout")])
    case .resumedAfterConnect: (.fillResumes, [("reason", "connect")])
    case .resumedAfterTLS: (.fillResumes, [("reason", "tls")])
    case .resumedAfterStatus: (.fillResumes, [("reason", "status")])
    case .resumedAfterDifference: (.fillResumes, [("reason", "difference")])
    case .resumedAfterOther: (.fillResumes, [("reason", "other")])
    case .clientResumedRange: (.clientResumes, [("kind", "range")])
    case .clientResumedRUFH: (.clientResumes, [("kind", "rufh")])
    case .clientResumedTus: (.clientResumes, [("kind", "tus")])
    case .savedByClientResume: (.bytesSaved, [("by", "client_resume")])
    case .savedByFillResume: (.bytesSaved, [("by", "fill_resume")])
    case .savedByCollapse: (.bytesSaved, [("by", "collapse")])
    case .endedDone: (.transfersEnded, [("by", "done")])
    case .endedByClient: (.transfersEnded, [("by", "client")])
    case .endedByOrigin: (.transfersEnded, [("by", "origin")])
    case .endedByPawl: (.transfersEnded, [("by", "pawl")])
    case .fillsFailedChanged: (.fillFailures, [("why", "changed")])
    case .fillsFailedNarrower: (.fillFailures, [("why", "narrower")])
    case .fillsGaveUp: (.fillFailures, [("why", "gave_up")])
    case .forwardAnswered: (.forwardAttempts, [("result", "answered")])
    case .forwardNotConsumed: (.forwardAttempts, [("result", "not_consumed")])
    case .forwardUnreachable: (.forwardAttempts, [("result", "unreachable")])
    case .forwardBroke: (.forwardAttempts, [("result", "broke")])
    case .forwardRefused: (.forwardAttempts, [("result", "refused")])
    case .forwardUnknown: (.forwardAttempts, [("result", "unknown")])
    case .rejectedConnections: (.rejected, [("why", "connections")])
    case .rejectedQueue: (.rejected, [("why", "upstream_queue")])
    case .rejectedLive: (.rejected, [("why", "live_streams")])
    case .rejectedUploadSpace: (.rejected, [("why", "upload_space")])
    case .rejectedUploadCount: (.rejected, [("why", "upload_count")])
    case .rejectedUploadSize: (.rejected, [("why", "upload_size")])
    case .rejectedMinRate: (.rejected, [("why", "min_rate")])
    case .accepted: (.connectionsAccepted, [])
    case .proxyHeaderRefused: (.proxyHeadersRefused, [])
    case .handshakeFailed: (.handshakeFailures, [])
    case .handshakesTLS12: handshake("1.2", "no")
    case .handshakesTLS12Resumed: handshake("1.2", "yes")
    case .handshakesTLS13: handshake("1.3", "no")
    case .handshakesTLS13Resumed: handshake("1.3", "yes")
    case .http2Streams: (.http2Streams, [])
    case .http2Aborted: (.http2Aborted, [])
    case .downloadsBegan, .downloadsEnded, .fillsBegan, .fillsEnded, .uploadsBegan, .uploadsEnded, .deliveriesBegan,
      .deliveriesEnded, .tunnelsBegan, .tunnelsEnded, .openingsBegan, .openingsEnded, .http1Began, .http1Ended,
      .http2Began, .http2Ended:
      nil
    }
  }

  private func bytes(_ direction: String, _ source: String) -> (MetricFamily, [MetricLabel]) {
    (.bytes, [("direction", direction), ("source", source)])
  }

  private func handshake(_ version: String, _ resumed: String) -> (MetricFamily, [MetricLabel]) {
    (.handshakes, [("version", version), ("resumed", resumed)])
  }
}

extension TransferKind {
  package var began: LoopCounter {
    switch self {
    case .download: .downloadsBegan
    case .fill: .fillsBegan
    case .upload: .uploadsBegan
    case .delivery: .deliveriesBegan
    case .tunnel: .tunnelsBegan
    }
  }

  package var ended: LoopCounter {
    switch self {
    case .download: .downloadsEnded
    case .fill: .fillsEnded
    case .upload: .uploadsEnded
    case .delivery: .deliveriesEnded
    case .tunnel: .tunnelsEnded
    }
  }
}

extension TransferEnd {
  package var counter: LoopCounter {
    switch self {
    case .done: .endedDone
    case .client: .endedByClient
    case .origin: .endedByOrigin
    case .pawl: .endedByPawl
    }
  }
}
