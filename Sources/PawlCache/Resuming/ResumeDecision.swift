/// Why a transfer is given up.
package enum ResumeFailure: Hashable, Sendable {
  /// `resume-attempts` attempts in a row brought no new bytes.
  case attemptsExhausted
  /// `replay-limit` is reached. Without this limit the replays might never end.
  case replayLimitReached
  /// After a timeout each node was asked again, and none brought enough new bytes. Further requests would make the origin produce
  /// an expensive response again and again, such as a slow report.
  case tookTooLongAgain
  /// The span begins in the middle of the representation, the origin does not serve ranges (any more), and bytes before the span
  /// are missing. So the bytes of a replay could not be compared up to the span.
  case spanCannotBeReplayed
}

/// What to do when the origin breaks off part-way through a body.
package enum ResumeDecision: Hashable, Sendable {
  /// A request with `Range: bytes=from-` and `If-Range`. `from` is already moved back by `overlap`: that many bytes are fetched
  /// again and compared, so that a difference is found even if the validator is wrong. The caller adds the end of its span, if it
  /// has one.
  case askForRest(from: UInt64, overlap: UInt64, ifRange: [UInt8])
  /// A plain request, without range and conditions. Its content is compared with the held bytes and dropped, up to the offset
  /// `comparing`; the rest is appended.
  case replay(comparing: UInt64)
  case giveUp(ResumeFailure)
}

/// The number of held bytes that are fetched again; if fewer are held, all of them.
private let overlapSize: UInt64 = 4096

/// Decides how a transfer continues after its origin broke off, or refused to continue.
///
/// With a strong validator, and while the origin has not refused a range, the rest is requested (RFC 9110 §13.1.5, §14.2).
/// Otherwise the complete representation is fetched again and compared. A span that begins in the middle can only be replayed
/// where every byte before it is held, so that the comparison has no hole. After a timeout each node is asked for the complete
/// representation at most once until there is progress.
///
/// - Parameters:
///   - held: the offset up to which all bytes from `spanStart` on are held; not a number of bytes.
///   - spanStart: the offset where the broken fetch began; 0 for a fill.
///   - prefix: the offset up to which all bytes from 0 on are held (``HeldBytes/prefix``). It matters only where `spanStart` is
///     above 0.
package func decideResume(
  held: UInt64, spanStart: UInt64, prefix: UInt64 = 0, identity: RepresentationIdentity, progress: ResumeProgress
) -> ResumeDecision {
  guard progress.attemptsWithoutProgress < progress.attemptLimit else { return .giveUp(.attemptsExhausted) }
  if let validator = identity.strongValidator, !progress.originRefusesRanges, held > 0 {
    let overlap = held > spanStart ? min(overlapSize, held - spanStart) : 0
    return .askForRest(from: held - overlap, overlap: overlap, ifRange: validator.ifRange)
  }
  guard canReplay(spanStart: spanStart, prefix: prefix) else { return .giveUp(.spanCannotBeReplayed) }
  guard !progress.isRepeatedInVain else { return .giveUp(.tookTooLongAgain) }
  let (allowed, overflow) = held.multipliedReportingOverflow(by: progress.replayFactor)
  if progress.replayedBytes > (overflow ? .max : allowed) { return .giveUp(.replayLimitReached) }
  return .replay(comparing: held)
}

/// Decides the first request for a span of a known representation: a range with the validator, or, where digests will prove the
/// bytes, the complete body from zero. `nil`: no response could be proven to belong to the representation.
package func decideStart(at start: UInt64, identity: RepresentationIdentity, isReplayed: Bool) -> ResumeDecision? {
  if isReplayed { return .replay(comparing: 0) }
  return identity.strongValidator.map { .askForRest(from: start, overlap: 0, ifRange: $0.ifRange) }
}

/// Whether the bytes of a replay can be compared up to a span that begins at `spanStart`. No byte before the span may be missing.
package func canReplay(spanStart: UInt64, prefix: UInt64) -> Bool { spanStart == 0 || prefix >= spanStart }
