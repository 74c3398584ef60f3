/// Decides when a completed upload is delivered to its origin, and whether it is delivered again.
package enum DeliveryPolicy {
  /// The setting `delivery` of a route.
  package enum Delivery: Hashable, Sendable { case atMostOnce, atLeastOnce }

  /// What a response of the origin means for the upload.
  package enum Verdict: Hashable, Sendable {
    /// The response is the final response of the upload.
    case answered
    /// The origin has not taken the upload (401, 429, 503). The response is passed on with `Upload-Complete: ?0`, and the client
    /// can complete the upload again.
    case notConsumed
  }

  /// What follows if the connection to the origin ended without a complete response.
  package enum AfterBreak: Hashable, Sendable {
    /// Another attempt after ``backoff(attempt:)``.
    case again
    /// No other attempt, because the origin may have acted on the request. The operator decides.
    case unknown
  }

  package static func verdict(status: Int) -> Verdict {
    switch status {
    case 401, 429, 503: .notConsumed
    default: .answered
    }
  }

  /// Whether a response with this status says that the origin took the upload: 2xx, and 303, which refers to the result (RFC 9110
  /// §15.4.4). Such a response does not count if it comes before the complete request is sent, because it cannot be true then.
  package static func saysTaken(status: Int) -> Bool { (200..<300).contains(status) || status == 303 }

  /// Returns the pause before another attempt, after a response that did not consume the upload. Used while no client waits to
  /// complete the upload again.
  /// - Parameter retryAfter: the seconds of `Retry-After`. A value below a minute is raised to a minute; a value above a day is
  ///   lowered to a day.
  /// - Returns: `nil`: no attempt is made until a client comes, because only a client can correct what was wrong.
  package static func pauseWithoutClient(status: Int, retryAfter: Int64?) -> Duration? {
    guard status == 429 || status == 503 else { return nil }
    return .seconds(min(max(retryAfter ?? 0, 60), 86_400))
  }

  /// Decides what follows an attempt that got no complete response.
  /// - Parameter sent: whether the last byte of the request may have reached the origin.
  package static func afterBreak(sent: Bool, _ delivery: Delivery) -> AfterBreak {
    sent && delivery == .atMostOnce ? .unknown : .again
  }

  /// Returns the phase of an upload after a restart.
  package static func afterRestart(_ phase: UploadPhase, _ delivery: Delivery) -> UploadPhase {
    switch phase {
    case .complete, .forwarding: .complete
    case .sent: delivery == .atMostOnce ? .unknown : .complete
    case .open, .answered, .unknown, .invalid, .removed: phase
    }
  }

  /// Returns the pause before an attempt, without jitter: 1 s, doubled each time up to 15 s.
  /// - Parameter attempt: how many attempts have failed; at least 1.
  package static func backoff(attempt: Int) -> Duration {
    .seconds(attempt > 4 ? 15 : 1 << max(attempt - 1, 0))
  }
}
