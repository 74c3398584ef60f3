import PawlCache
import PawlUpstream

/// The attempts to fetch one content: what was asked last, how that attempt ended, and what is asked next. Pure.
struct FetchAttempts {
  /// The decision that led to the last request. `nil`: only the first request was sent.
  var asked: ResumeDecision?
  var progress: ResumeProgress
  /// The number of bytes that came again in the present attempt.
  var replayed: UInt64 = 0
  /// Why the last attempt ended, in a word for the log.
  private(set) var failure = "closed"
  private var ending = AttemptEnding.brokeOff

  init(attemptLimit: Int, replayFactor: UInt64, nodes: Int = 1) {
    progress = ResumeProgress(held: 0, attemptLimit: attemptLimit, replayFactor: replayFactor, nodes: nodes)
  }

  mutating func ended(_ failure: String, _ ending: AttemptEnding) { (self.failure, self.ending) = (failure, ending) }

  /// Notes that the origin was asked for a range and refuses ranges. That request does not count as an attempt.
  mutating func rangesWereRefused() {
    ending = .notBegun
    progress.originRefusesRanges = true
  }

  /// Decides what the origin is asked next, after an attempt has ended.
  mutating func next(
    held: UInt64, spanStart: UInt64, prefix: UInt64, identity: RepresentationIdentity
  ) -> ResumeDecision {
    progress.attemptEnded(held: held, replayed: replayed, total: identity.total, ending: ending)
    replayed = 0
    return decideResume(held: held, spanStart: spanStart, prefix: prefix, identity: identity, progress: progress)
  }
}
