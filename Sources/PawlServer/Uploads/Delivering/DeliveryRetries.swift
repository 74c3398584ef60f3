import PawlLoop
import PawlUploadStore

/// One loop's completed uploads between attempts. It goes by the monotonic clock: a wall clock that is set back delays
/// no attempt, and one that is set forward ends no upload.
final class DeliveryRetries {
  enum Next {
    case attempt
    /// Its time is over (``SpooledUpload/giveUpAt``).
    case end
  }

  /// Uploads whose origin came back go within this time, not all at once; milliseconds.
  static let spread: UInt64 = 300

  private struct Pause {
    let timer: LoopTimer
    /// `nil`: only its client can make the next attempt better.
    var due: Monotonic?
    /// As it was noted. Where it is another, another loop has tried meanwhile and looks after the upload.
    let nextAttempt: Int64?
    /// Could not be reached; the next attempt is due when it can be.
    var upstream: String?
  }

  private let loop: EventLoop
  private let over: (SpooledUpload, Next) -> Void
  private var pauses: [UploadID: Pause] = [:]
  private var ends: [UploadID: (giveUpAt: Int64, time: Monotonic)] = [:]
  /// Upstreams that some upload waits for.
  private var awaited: Set<String> = []

  /// - Parameter over: is called when a pause is.
  init(_ loop: EventLoop, over: @escaping (SpooledUpload, Next) -> Void) { (self.loop, self.over) = (loop, over) }

  /// - Parameters:
  ///   - time: until the next attempt; `nil`: the upload waits for its client, at most until its end.
  ///   - nextAttempt: as it was noted for the upload; wall seconds.
  ///   - upstream: the one that could not be reached.
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

  /// When it is given up. Told once by the wall clock, whatever that does later.
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
      // Its end was put off.
      return begin(upload, until: pause.due, pause.nextAttempt, pause.upstream)
    }
    over(upload, .attempt)
  }

  /// The upstream answers again: who could not reach it need not wait longer.
  func cameBack(_ upstream: String) {
    guard awaited.remove(upstream) != nil else { return }
    for (id, pause) in pauses where pause.upstream == upstream {
      let delay = Duration.milliseconds(Int(Randomness.uint64() % Self.spread))
      pauses[id]?.due = loop.now.advanced(by: delay)
      pauses[id]?.upstream = nil
      pause.timer.schedule(after: delay)
    }
  }

  /// An attempt begins.
  func cancel(_ id: UploadID) { pauses.removeValue(forKey: id)?.timer.close() }

  /// It will not be sent again.
  func forget(_ id: UploadID) {
    cancel(id)
    ends[id] = nil
  }

  func cancelAll() {
    for pause in pauses.values { pause.timer.close() }
    (pauses, ends, awaited) = ([:], [:], [])
  }
}
