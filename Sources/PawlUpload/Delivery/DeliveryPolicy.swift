/// When a completed upload goes to its origin, and when it goes again.
package enum DeliveryPolicy {
  /// What a route asks for (`delivery`).
  package enum Delivery: Hashable, Sendable { case atMostOnce, atLeastOnce }

  /// What an answer of the origin means for the upload.
  package enum Verdict: Hashable, Sendable {
    /// It is the upload's final answer.
    case answered
    /// 401, 429, 503: passed on with `?0`, and the upload can be completed again.
    case notConsumed
  }

  /// What follows when the origin broke off without an answer.
  package enum AfterBreak: Hashable, Sendable {
    /// Another attempt after ``backoff(attempt:)``.
    case again
    /// It may have taken effect: the operator decides.
    case unknown
  }

  package static func verdict(status: Int) -> Verdict {
    switch status {
    case 401, 429, 503: .notConsumed
    default: .answered
    }
  }

  /// Whether an answer with this status says that the upload was taken: 2xx, and 303, which stands for the answer to what
  /// was done (RFC 9110 §15.4.4). Before the whole request is sent it cannot be true, and does not count.
  package static func saysTaken(status: Int) -> Bool { (200..<300).contains(status) || status == 303 }

  /// How long to wait with another attempt after an answer that did not consume the upload, when no client waits to
  /// give its own.
  /// - Parameter retryAfter: seconds, as the origin asked; more than a day counts as a day.
  /// - Returns: `nil` when only a client can make the next attempt better.
  package static func pauseWithoutClient(status: Int, retryAfter: Int64?) -> Duration? {
    guard status == 429 || status == 503 else { return nil }
    return .seconds(min(max(retryAfter ?? 0, 60), 86_400))
  }

  /// - Parameter sent: whether the last byte of the request may have reached the origin.
  package static func afterBreak(sent: Bool, _ delivery: Delivery) -> AfterBreak {
    sent && delivery == .atMostOnce ? .unknown : .again
  }

  /// The phase in which an upload goes on after a restart.
  package static func afterRestart(_ phase: UploadPhase, _ delivery: Delivery) -> UploadPhase {
    switch phase {
    case .complete, .forwarding: .complete
    case .sent: delivery == .atMostOnce ? .unknown : .complete
    case .open, .answered, .unknown, .invalid, .removed: phase
    }
  }

  /// The pause before an attempt, without jitter: 1 s, doubling to 15 s.
  /// - Parameter attempt: how many have failed, from 1.
  package static func backoff(attempt: Int) -> Duration {
    .seconds(attempt > 4 ? 15 : 1 << max(attempt - 1, 0))
  }
}
