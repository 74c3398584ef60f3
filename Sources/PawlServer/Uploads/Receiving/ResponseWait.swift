import PawlLoop
import PawlUpload
import PawlUploadStore

/// One client's wait for the origin's response to a completed upload. If the wait ends early, the delivery still goes on.
/// Belongs to one loop.
final class ResponseWait {
  enum Outcome {
    case answered(UploadAnswer)
    /// The origin responded 401, 429 or 503, and the upload stays as it was.
    case refused(UploadAnswer)
    /// There was no response within the time that a client waits.
    case undecided
    /// The upload is delivered by another process.
    case moved
    /// The request was sent, and no response came.
    case unknown
    /// The bytes do not match their digest, so they are not delivered.
    case mismatch
    /// The upload does not exist any more.
    case lost
  }

  /// The time between two interim responses to the waiting client. Without interim responses, clients and proxies would close the
  /// silent connection.
  static let keepAliveInterval = Duration.seconds(15)

  private let upload: SpooledUpload
  private let loop: EventLoop
  private let baseline: Int
  private let patience: Duration
  private let isBounded: Bool
  private let isRepeatable: Bool
  private let isMoved: (UploadPhase) -> Bool
  private var isOverdue = false
  private var isLoading = false
  private var observation: UploadObservation?
  private var timer: LoopTimer?
  private var pulse: LoopTimer?
  private var then: ((Outcome) -> Void)?

  /// - Parameters:
  ///   - baseline: the number of an attempt. Only a refusal of an attempt with a larger number ends the wait.
  ///   - patience: how long the client waits while the origin cannot be reached.
  ///   - isBounded: whether `patience` is also the limit while the origin works on the request.
  ///   - isRepeatable: whether a request that was sent and got no response is sent again (`at-least-once`).
  ///   - isMoved: returns whether another process delivers an upload in this phase.
  init(
    _ upload: SpooledUpload, on loop: EventLoop, since baseline: Int, patience: Duration, isBounded: Bool,
    isRepeatable: Bool, isMoved: @escaping (UploadPhase) -> Bool = { _ in false }
  ) {
    (self.upload, self.loop, self.baseline) = (upload, loop, baseline)
    (self.patience, self.isBounded, self.isRepeatable) = (patience, isBounded, isRepeatable)
    self.isMoved = isMoved
  }

  /// Starts the wait. `then` is called once, possibly within this call.
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
    // `open`: the last byte has come, and its record is being written.
    case .open, .complete:
      if tellRefusal() { break }
      if isMoved(.complete) { end(.moved) } else if isOverdue { end(.undecided) }
    case .forwarding, .sent:
      if isMoved(.forwarding) { end(.moved) } else if isOverdue, isBounded { end(.undecided) }
    // An upload is in this phase for a short time, too: after an attempt was refused, and before an attempt is repeated.
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

  /// Ends the wait without calling `then`.
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
