/// Why a transfer is given up.
package enum ResumeFailure: Hashable, Sendable {
  /// `resume-attempts` attempts in a row brought no new bytes.
  case attemptsExhausted
  /// `replay-limit`: the replays would never end.
  case replayLimitReached
  /// After a timeout the whole representation was requested once more, without progress. This keeps the origin from repeating an
  /// expensive response, such as a slow report.
  case tookTooLongAgain
  /// The span begins in the middle, the origin does not serve ranges (any more), and bytes below the span are missing: a body
  /// from byte zero could not be compared up to the span.
  case spanCannotBeReplayed
}

/// What to do when the origin breaks off part-way through a body.
package enum ResumeDecision: Hashable, Sendable {
  /// A request with `Range: bytes=from-` and `If-Range`. `from` is already moved back by `overlap`: that many bytes are fetched
  /// again and compared, so that a wrong validator is found near the break. The caller adds the end of its span, if it has one.
  case askForRest(from: UInt64, overlap: UInt64, ifRange: [UInt8])
  /// A plain request. Its content is compared with what is held up to `comparing`, and dropped; the rest is appended.
  case replay(comparing: UInt64)
  case giveUp(ResumeFailure)
}

/// The overlap that is fetched again, in bytes; less where less is held.
private let overlapSize: UInt64 = 4096

/// Decides how a transfer continues after its origin broke off, or refused to continue.
///
/// With a strong validator, and while the origin has not refused a range, the rest is requested (RFC 9110 §13.1.5, §14.2).
/// Otherwise the whole representation is fetched again and compared. A span that begins in the middle can only be replayed where
/// every byte below it is held, so that the comparison has no hole. After a timeout the whole is requested at most once more,
/// until there was progress.
///
/// - Parameters:
///   - held: the offset where the bytes end that are held from `spanStart` on without a hole; not a count.
///   - spanStart: where the broken fetch began; 0 for a fill.
///   - prefix: the offset where the bytes end that are held from 0 on without a hole (``HeldBytes/prefix``). It matters only
///     where `spanStart` is above 0.
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

/// Decides the first request for a span of a known representation: a range with the validator, or the whole body from zero where
/// digests will prove it. `nil`: no response could be proven to belong to it.
package func decideStart(at start: UInt64, identity: RepresentationIdentity, isReplayed: Bool) -> ResumeDecision? {
  if isReplayed { return .replay(comparing: 0) }
  return identity.strongValidator.map { .askForRest(from: start, overlap: 0, ifRange: $0.ifRange) }
}

/// Whether a body from zero can be compared up to a span that begins at `spanStart`: no byte below it may be missing.
package func canReplay(spanStart: UInt64, prefix: UInt64) -> Bool { spanStart == 0 || prefix >= spanStart }
