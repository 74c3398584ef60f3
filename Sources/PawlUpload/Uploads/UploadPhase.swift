/// The phase of an upload. The raw values are stored.
package enum UploadPhase: Int64, Hashable, Sendable, CaseIterable {
  /// It accepts bytes.
  case open = 0
  /// All bytes are durable; it has to be delivered, or delivered again.
  case complete = 1
  /// A delivery attempt runs; the origin has no complete request yet. Recorded as ``complete``.
  case forwarding = 2
  /// It is recorded that the last byte may have been sent to the origin.
  case sent = 3
  /// The origin's final response is stored.
  case answered = 4
  /// It was sent, and no response came: the operator decides.
  case unknown = 5
  /// It is refused forever: too long, or not matching its digest.
  case invalid = 6
  /// It is cancelled, expired or removed.
  case removed = 7
}
