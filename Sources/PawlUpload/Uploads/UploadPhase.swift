/// Where an upload stands. The raw values are stored.
package enum UploadPhase: Int64, Hashable, Sendable, CaseIterable {
  /// Takes bytes.
  case open = 0
  /// All bytes are durable; to be forwarded, or to be forwarded again.
  case complete = 1
  /// An attempt runs; the origin has no complete request yet. Recorded as ``complete``.
  case forwarding = 2
  /// Journalled: the last byte may have gone to the origin.
  case sent = 3
  /// The origin's final answer is stored.
  case answered = 4
  /// Sent, and no answer came: the operator decides.
  case unknown = 5
  /// Refused for good: too long, or not what its digest says.
  case invalid = 6
  /// Cancelled, expired or dropped.
  case removed = 7
}
