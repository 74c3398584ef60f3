/// Why a transfer is given up.
package enum ResumeFailure: Hashable, Sendable {
  /// `resume-attempts` in a row brought nothing.
  case attemptsExhausted
  /// `replay-limit`: replaying would go on for ever.
  case replayLimitReached
  /// After an answer that took too long the whole was asked for once more, and that brought no progress: a slow report is not
  /// run again and again.
  case tookTooLongAgain
  /// The span begins in the middle, the origin has no ranges (any more), and what lies below is not wholly held: a body
  /// from zero could not be compared up to the place where it is needed.
  case spanCannotBeReplayed
}

/// What to do when the origin breaks off part-way through a body.
package enum ResumeDecision: Hashable, Sendable {
  /// `Range: bytes=from-` and `If-Range`. `from` is already moved back by `overlap`: that many bytes are asked for again and
  /// compared, so that a validator that lies is caught near the break. The caller adds the end of its span, if it has one.
  case askForRest(from: UInt64, overlap: UInt64, ifRange: [UInt8])
  /// A plain request. What arrives is compared with what is held, up to `comparing`, and dropped; the rest is appended.
  case replay(comparing: UInt64)
  case giveUp(ResumeFailure)
}

/// The overlap that is asked for again, in bytes; less where less is held.
private let overlapSize: UInt64 = 4096

/// Decides how a transfer goes on after its origin broke off, or refused to go on (architecture.md, "When the origin breaks").
///
/// With a strong validator, and while the origin has not refused, the rest is asked for (RFC 9110 §13.1.5, §14.2);
/// otherwise the whole is fetched again and compared. A span that begins in the middle can only be replayed where every byte
/// below it is held, so that the comparison has no hole. After an answer that took too long the whole is asked for at most
/// once more, until there was progress.
///
/// - Parameters:
///   - held: where the bytes end that are held from `spanStart` on without a hole: an offset, not a count.
///   - spanStart: where the broken fetch began; 0 for a fill.
///   - prefix: where the bytes end that are held from 0 on without a hole (``HeldBytes/prefix``); it matters only where
///     `spanStart` is above 0.
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

/// How a span of a representation that is known already is asked for first: as a range that is tied to its validator, or with
/// the whole body from zero where digests will prove it. `nil`: nothing could prove what came.
package func decideStart(at start: UInt64, identity: RepresentationIdentity, isReplayed: Bool) -> ResumeDecision? {
  if isReplayed { return .replay(comparing: 0) }
  return identity.strongValidator.map { .askForRest(from: start, overlap: 0, ifRange: $0.ifRange) }
}

/// Whether a body from zero proves anything for a span that begins at `spanStart`: nothing below it may be missing.
package func canReplay(spanStart: UInt64, prefix: UInt64) -> Bool { spanStart == 0 || prefix >= spanStart }
