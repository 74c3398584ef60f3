/// How the cache was used for a request: the field `cache` of the access log, and a label of `pawl_requests_total`.
package enum CacheOutcome: Int, CaseIterable, Sendable {
  /// No cache was asked.
  case none
  case hit
  case miss
  /// The stored response was incomplete when the request came.
  case partial
  case revalidated
  case stale
  /// The response to another request was used.
  case collapsed
  /// The route or the request keeps the response out of the cache.
  case bypass

  /// The word of the access log.
  package var word: String {
    switch self {
    case .none: "-"
    case .hit: "hit"
    case .miss: "miss"
    case .partial: "partial"
    case .revalidated: "revalidated"
    case .stale: "stale"
    case .collapsed: "collapsed"
    case .bypass: "bypass"
    }
  }

  /// The label of the metric.
  var label: StaticString {
    switch self {
    case .none: "none"
    case .hit: "hit"
    case .miss: "miss"
    case .partial: "partial"
    case .revalidated: "revalidated"
    case .stale: "stale"
    case .collapsed: "collapsed"
    case .bypass: "bypass"
    }
  }
}

/// The hundreds of a status.
package enum StatusClass: Int, CaseIterable, Sendable {
  /// No response was sent.
  case none
  case informational, success, redirection, clientError, serverError

  @inlinable @inline(__always)
  package init(_ status: Int) {
    switch status {
    case 200..<300: self = .success
    case 300..<400: self = .redirection
    case 400..<500: self = .clientError
    case 500..<600: self = .serverError
    case 100..<200: self = .informational
    default: self = .none
    }
  }

  var label: StaticString {
    switch self {
    case .none: "none"
    case .informational: "1xx"
    case .success: "2xx"
    case .redirection: "3xx"
    case .clientError: "4xx"
    case .serverError: "5xx"
    }
  }
}

/// The kind of a transfer: what `pawl_transfers_active` and the list of transfers distinguish.
package enum TransferKind: Int, CaseIterable, Sendable {
  /// A request of a client without content, and its answer.
  case download
  /// Content that is fetched into a cache.
  case fill
  /// A request of a client with content, or about a resumable upload, and its answer.
  case upload
  /// A completed upload on its way to the application.
  case delivery
  /// A WebSocket or another upgraded connection.
  case tunnel

  package var word: StaticString {
    switch self {
    case .download: "download"
    case .fill: "fill"
    case .upload: "upload"
    case .delivery: "delivery"
    case .tunnel: "tunnel"
    }
  }
}
