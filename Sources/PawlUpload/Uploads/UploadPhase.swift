/// The phase of an upload. The raw values are stored.
package enum UploadPhase: Int64, Hashable, Sendable, CaseIterable {
  /// The upload accepts bytes.
  case open = 0
  /// All bytes are durable; the upload has to be delivered, or delivered again.
  case complete = 1
  /// A delivery attempt runs; the origin has no complete request yet. Recorded as ``complete``.
  case forwarding = 2
  /// The catalogue has recorded that the last byte may have been sent to the origin.
  case sent = 3
  /// The origin's final response is stored.
  case answered = 4
  /// The upload was sent, and no response came. The operator decides what to do.
  case unknown = 5
  /// The upload is refused forever, because it is too long, does not match its digest, or has lost bytes.
  case invalid = 6
  /// The upload was cancelled, has expired or was removed.
  case removed = 7
}
