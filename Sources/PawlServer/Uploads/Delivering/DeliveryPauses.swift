import PawlLoop
import PawlUploadStore

/// The completed uploads of one loop that wait between two attempts. The pauses use the monotonic clock, so setting the wall
/// clock back delays no attempt, and setting it forward does not make pawl give up an upload.
final class DeliveryPauses {
  enum Next {
    case attempt
    /// The upload is to be given up (``SpooledUpload/giveUpAt``).
    case end
  }

  /// The time over which attempts are spread when an upstream can be reached again, in milliseconds.
  static let spread: UInt64 = 300

  private struct Pause {
    let timer: LoopTimer
    /// When the next attempt is made; `nil`: the upload waits for its client.
    var due: Monotonic?
    /// The time of the next attempt, as it was recorded for the upload. If the upload has a different time, another loop has made
    /// an attempt meanwhile, and is responsible for the upload now.
    let nextAttempt: Int64?
    /// The upstream that could not be reached; the next attempt is due when this upstream can be reached.
    var upstream: String?
  }

  private let loop: EventLoop
  private let over: (SpooledUpload, Next) -> Void
  private var pauses: [UploadID: Pause] = [:]
  private var ends: [UploadID: (giveUpAt: Int64, time: Monotonic)] = [:]
  /// The upstreams that uploads wait for.
  private var awaited: Set<String> = []

  /// - Parameter over: called at the end of a pause.
  init(_ loop: EventLoop, over: @escaping (SpooledUpload, Next) -> Void) { (self.loop, self.over) = (loop, over) }

  /// Begins a pause.
  /// - Parameters:
  ///   - time: the time until the next attempt; `nil`: the upload waits for its client, at most until it is given up.
  ///   - nextAttempt: the time of the next attempt as recorded for the upload; wall clock, seconds since 1970.
  ///   - upstream: the upstream that could not be reached.
  func begin(_ upload: SpooledUpload, for time: Duration?, nextAttempt: Int64?, awaiting upstream: String?) {
    begin(upload, until: time.map { loop.now.advanced(by: $0) }, nextAttempt, upstream)
  }

  private func begin(_ upload: SpooledUpload, until due: Monotonic?, _ nextAttempt: Int64?, _ upstream: String?) {
    let id = upload.id
    cancel(id)
    guard let first = [due, end(of: upload)].compactMap(\.self).min() else { return }
    let timer = loop.makeTimer { [weak self, weak upload] in self?.rang(id, upload) }
    pauses[id] = Pause(timer: timer, due: due, nextAttempt: nextAttempt, upstream: upstream)
    if let upstream { awaited.insert(upstream) }
    timer.schedule(after: first - loop.now)
  }

  /// Returns when the upload is given up; `nil`: never. The time is computed one time from the wall clock. If that clock is
  /// changed afterwards, the time stays the same.
  func end(of upload: SpooledUpload) -> Monotonic? {
    guard let giveUpAt = upload.giveUpAt else {
      ends[upload.id] = nil
      return nil
    }
    if let known = ends[upload.id], known.giveUpAt == giveUpAt { return known.time }
    let left = max(.zero, Duration.seconds(giveUpAt) - .seconds(loop.wallSeconds))
    let time = loop.now.advanced(by: left)
    ends[upload.id] = (giveUpAt, time)
    return time
  }

  private func rang(_ id: UploadID, _ upload: SpooledUpload?) {
    guard let pause = pauses.removeValue(forKey: id) else { return }
    pause.timer.close()
    guard let upload, upload.status.phase == .complete else { return forget(id) }
    if let end = end(of: upload), end <= loop.now { return over(upload, .end) }
    guard upload.nextAttempt == pause.nextAttempt else { return }
    guard let due = pause.due, due <= loop.now else {
      // The time at which the upload is given up was moved to a later time, so the pause goes on.
      return begin(upload, until: pause.due, pause.nextAttempt, pause.upstream)
    }
    over(upload, .attempt)
  }

  /// Ends the pauses of the uploads that wait for this upstream, within ``spread``, because the upstream responds again.
  func cameBack(_ upstream: String) {
    guard awaited.remove(upstream) != nil else { return }
    for (id, pause) in pauses where pause.upstream == upstream {
      let delay = Duration.milliseconds(Int(Randomness.uint64() % Self.spread))
      pauses[id]?.due = loop.now.advanced(by: delay)
      pauses[id]?.upstream = nil
      pause.timer.schedule(after: delay)
    }
  }

  /// Ends the pause of an upload whose next attempt begins.
  func cancel(_ id: UploadID) { pauses.removeValue(forKey: id)?.timer.close() }

  /// Forgets an upload that will not be sent again.
  func forget(_ id: UploadID) {
    cancel(id)
    ends[id] = nil
  }

  func cancelAll() {
    for pause in pauses.values { pause.timer.close() }
    (pauses, ends, awaited) = ([:], [:], [])
  }
}
