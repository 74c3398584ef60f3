import PawlCache
import PawlUpstream

/// The attempts to fetch one content: what was asked last, how that ended, and what is asked next. Pure.
struct FetchAttempts {
  /// The decision that led to the last request. `nil`: nothing was asked again after the first request.
  var asked: ResumeDecision?
  var progress: ResumeProgress
  /// The number of bytes that came again in the present attempt.
  var replayed: UInt64 = 0
  /// How the last attempt ended, for the log and for what is asked next.
  private(set) var failure = "closed"
  private var ending = AttemptEnding.brokeOff

  init(attemptLimit: Int, replayFactor: UInt64, nodes: Int = 1) {
    progress = ResumeProgress(held: 0, attemptLimit: attemptLimit, replayFactor: replayFactor, nodes: nodes)
  }

  mutating func ended(_ failure: String, _ ending: AttemptEnding) { (self.failure, self.ending) = (failure, ending) }

  /// Notes that the origin was asked for a part and refuses ranges. This does not count as an attempt.
  mutating func rangesWereRefused() {
    ending = .notBegun
    progress.originRefusesRanges = true
  }

  /// Decides what is asked after the attempt that has ended.
  mutating func next(
    held: UInt64, spanStart: UInt64, prefix: UInt64, identity: RepresentationIdentity
  ) -> ResumeDecision {
    progress.attemptEnded(held: held, replayed: replayed, total: identity.total, ending: ending)
    replayed = 0
    return decideResume(held: held, spanStart: spanStart, prefix: prefix, identity: identity, progress: progress)
  }
}
