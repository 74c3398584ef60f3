import PawlCache
import PawlUpstream

/// The attempts to get one content: what was asked last, how that ended, and what is asked next. Pure.
struct FetchAttempts {
  /// `nil`: the first request is out, or was answered; nothing has been asked again.
  var asked: ResumeDecision?
  var progress: ResumeProgress
  /// Bytes that came again in the attempt that runs.
  var replayed: UInt64 = 0
  /// How the last one ended, for the log and for what is asked next.
  private(set) var failure = "closed"
  private var ending = AttemptEnding.brokeOff

  init(attemptLimit: Int, replayFactor: UInt64, nodes: Int = 1) {
    progress = ResumeProgress(held: 0, attemptLimit: attemptLimit, replayFactor: replayFactor, nodes: nodes)
  }

  mutating func ended(_ failure: String, _ ending: AttemptEnding) { (self.failure, self.ending) = (failure, ending) }

  /// An origin that was asked for a part says that it has none to give: that was no attempt.
  mutating func rangesWereRefused() {
    ending = .notBegun
    progress.originRefusesRanges = true
  }

  /// What is asked after the attempt that has ended.
  mutating func next(
    held: UInt64, spanStart: UInt64, prefix: UInt64, identity: RepresentationIdentity
  ) -> ResumeDecision {
    progress.attemptEnded(held: held, replayed: replayed, total: identity.total, ending: ending)
    replayed = 0
    return decideResume(held: held, spanStart: spanStart, prefix: prefix, identity: identity, progress: progress)
  }
}
