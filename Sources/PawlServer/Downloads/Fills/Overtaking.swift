import PawlLoop

/// Sees to it that one slow reader does not hold up all others of a body that is streamed: whom they have waited for some
/// time is overtaken, and goes on by a request of its own (``OwnRest``). Of one fill, on its loop.
final class Overtaking {
  /// It looks this often.
  static let interval = Duration.seconds(1)
  /// So many looks in a row have to find somebody waiting.
  static let patience = 3

  private weak var fill: Fill?
  private var timer: LoopTimer?
  private var count = 0

  /// The fill waits for its readers.
  func begin(_ fill: Fill) {
    guard timer?.isScheduled != true else { return }
    self.fill = fill
    let timer = timer ?? fill.downloads.loop.makeTimer { [weak self] in self?.look() }
    self.timer = timer
    timer.schedule(after: Self.interval)
  }

  func end() {
    timer?.close()
    (timer, fill, count) = (nil, nil, 0)
  }

  private func look() {
    guard let fill else { return }
    count = fill.body.isHeldUp ? count + 1 : 0
    guard count >= Self.patience else {
      // Nothing else may happen until somebody moves: a fill that waits is looked at again.
      if count > 0 || fill.isPaused { timer?.schedule(after: Self.interval) }
      return
    }
    count = 0
    fill.downloads.events.log(
      .info, "slow-reader-overtaken", ["upstream": fill.route.upstreamName, "body": fill.body.id.hex])
    fill.body.overtakeSlowReaders()
    fill.readersMoved()
  }
}
