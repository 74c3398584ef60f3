/// A fault of an origin that pawl makes up for, by which operators see what their application does wrong.
package enum OriginDefect: Int, CaseIterable, Sendable {
  /// A range of bytes that had not changed was answered with the complete representation.
  case rangeIgnored
  /// Equal bytes came with another entity tag.
  case etagUnstable
  /// A response ended before its announced end.
  case truncated
  /// A response to HEAD described another representation than that to GET.
  case headWrong
  /// A 206 had another range than the one that was asked for, or did not say which.
  case rangeShifted

  package var label: StaticString {
    switch self {
    case .rangeIgnored: "range_ignored"
    case .etagUnstable: "etag_unstable"
    case .truncated: "truncated"
    case .headWrong: "head_wrong"
    case .rangeShifted: "range_shifted"
    }
  }
}

/// Why a request to an origin failed.
package enum OriginFailureKind: Int, CaseIterable, Sendable {
  case dns, refused, unreachable, timeout, tls, closed, incomplete, malformed, queue, other

  package var label: StaticString {
    switch self {
    case .dns: "dns"
    case .refused: "refused"
    case .unreachable: "unreachable"
    case .timeout: "timeout"
    case .tls: "tls"
    case .closed: "closed"
    case .incomplete: "incomplete"
    case .malformed: "malformed"
    case .queue: "queue"
    case .other: "other"
    }
  }
}

/// What one loop counts for one upstream. The loop alone writes, any thread reads.
package final class UpstreamCounters: Sendable {
  package enum Counter: Int, CaseIterable, Sendable {
    /// Requests that were sent.
    case requests
    case connectionsOpened
    /// Requests that went over a connection that was idle before.
    case connectionsReused
    /// Bytes of content, without framing.
    case bytesReceived, bytesSent
    /// Requests that were sent again over another connection.
    case retries
  }

  // The cells: counters, responses by status, failures, defects, the histogram of the time to the first byte.
  private static let responses = Counter.allCases.count
  private static let failures = responses + StatusClass.allCases.count
  private static let defects = failures + OriginFailureKind.allCases.count
  private static let firstByte = defects + OriginDefect.allCases.count
  private let cells = CounterCells(count: UpstreamCounters.firstByte + CounterCells.histogramCells)

  package init() {}

  package func add(_ counter: Counter, _ amount: UInt64 = 1) {
    cells.add(counter.rawValue, UInt(truncatingIfNeeded: amount))
  }

  package func addFailure(_ kind: OriginFailureKind) { cells.add(Self.failures + kind.rawValue, 1) }
  package func addDefect(_ defect: OriginDefect) { cells.add(Self.defects + defect.rawValue, 1) }

  /// Counts a final response head.
  /// - Parameter microseconds: the time since the request was sent; `nil`: unknown.
  package func addResponse(_ status: Int, microseconds: UInt64?) {
    cells.add(Self.responses + StatusClass(status).rawValue, 1)
    if let microseconds { cells.observe(Self.firstByte, microseconds: microseconds) }
  }

  // MARK: - Reading, on any thread

  package func value(_ counter: Counter) -> UInt64 { UInt64(cells.load(counter.rawValue)) }
  package func responses(_ status: StatusClass) -> UInt64 { UInt64(cells.load(Self.responses + status.rawValue)) }
  package func failures(_ kind: OriginFailureKind) -> UInt64 { UInt64(cells.load(Self.failures + kind.rawValue)) }
  package func defects(_ defect: OriginDefect) -> UInt64 { UInt64(cells.load(Self.defects + defect.rawValue)) }
  package var firstByte: TimeHistogram { cells.histogram(at: Self.firstByte) }
}
