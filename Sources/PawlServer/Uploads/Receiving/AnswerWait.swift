import PawlLoop
import PawlUpload
import PawlUploadStore

/// One client's wait for the origin's answer to a completed upload. The delivery goes on without it. Of one loop.
final class AnswerWait {
  enum Outcome {
    case answered(UploadAnswer)
    /// An answer that leaves the upload as it was (401, 429, 503).
    case refused(UploadAnswer)
    /// Not within the time a client waits.
    case undecided
    /// Sent, and no answer came.
    case unknown
    /// The bytes are not what their digest says: no origin will see them.
    case mismatch
    /// The upload is no more.
    case lost
  }

  /// A silent connection is taken for a dead one sooner or later.
  static let keepAliveInterval = Duration.seconds(15)

  private let upload: SpooledUpload
  private let loop: EventLoop
  private let baseline: Int
  private let patience: Duration
  private let isBounded: Bool
  private let isRepeatable: Bool
  private var isOverdue = false
  private var isLoading = false
  private var observation: UploadObservation?
  private var timer: LoopTimer?
  private var pulse: LoopTimer?
  private var then: ((Outcome) -> Void)?

  /// - Parameters:
  ///   - baseline: refusals of attempts up to this one were known before.
  ///   - patience: so long the origin may be away.
  ///   - isBounded: no longer than that even while the origin works on it.
  ///   - isRepeatable: what was sent and not answered is sent again.
  init(
    _ upload: SpooledUpload, on loop: EventLoop, since baseline: Int, patience: Duration, isBounded: Bool,
    isRepeatable: Bool
  ) {
    (self.upload, self.loop, self.baseline) = (upload, loop, baseline)
    (self.patience, self.isBounded, self.isRepeatable) = (patience, isBounded, isRepeatable)
  }

  /// `then` is called once, perhaps at once.
  func start(keepAlive: @escaping () -> Void, then: @escaping (Outcome) -> Void) {
    self.then = then
    observation = upload.observe(on: loop) { [weak self] in self?.look() }
    timer = loop.makeTimer { [weak self] in
      self?.isOverdue = true
      self?.look()
    }
    timer?.schedule(after: patience)
    pulse = loop.makeTimer { [weak self] in
      keepAlive()
      self?.pulse?.schedule(after: Self.keepAliveInterval)
    }
    pulse?.schedule(after: Self.keepAliveInterval)
    look()
  }

  private func look() {
    switch upload.status.phase {
    // `open` is between the last byte and its record.
    case .open, .complete: if !tellRefusal(), isOverdue { end(.undecided) }
    case .forwarding, .sent: if isOverdue, isBounded { end(.undecided) }
    // An attempt that was refused, or is to be repeated, goes by this.
    case .unknown:
      if !tellRefusal(), !isRepeatable || upload.status.originStatus != nil {
        end(.unknown)
      } else if isOverdue {
        end(.undecided)
      }
    case .answered: load()
    case .invalid: end(.mismatch)
    case .removed: end(.lost)
    }
  }

  private func tellRefusal() -> Bool {
    guard let refusal = upload.lastRefusal, refusal.attempt > baseline else { return false }
    end(.refused(refusal.answer))
    return true
  }

  private func load() {
    guard !isLoading else { return }
    isLoading = true
    upload.loadAnswer(on: loop) { [weak self] in self?.end($0.map(Outcome.answered) ?? .lost) }
  }

  private func end(_ outcome: Outcome) {
    guard let then else { return }
    cancel()
    then(outcome)
  }

  /// Nothing is called any more.
  func cancel() {
    then = nil
    observation?.cancel()
    observation = nil
    timer?.close()
    timer = nil
    pulse?.close()
    pulse = nil
  }
}
