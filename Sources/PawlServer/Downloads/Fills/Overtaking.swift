import PawlLoop

/// Prevents one slow reader from holding up all other readers of a streamed body. A reader for which the others have waited for some time
/// is overtaken: it goes on with a request of its own (``OvertakenReaderFetch``). Belongs to one fill, on its loop.
final class Overtaking {
  /// The time between two checks.
  static let interval = Duration.seconds(1)
  /// The number of checks in a row that have to find readers held up before the slow readers are overtaken.
  static let patience = 3

  private weak var fill: Fill?
  private var timer: LoopTimer?
  private var count = 0

  /// Starts to check, because the fill waits for its readers.
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
      // While the fill waits it is checked again, because no other event may come before a reader moves.
      if count > 0 || fill.isPaused { timer?.schedule(after: Self.interval) }
      return
    }
    count = 0
    fill.downloads.events.log(
      .info, "slow-reader-detached", ["upstream": fill.route.upstreamName, "body": fill.body.id.hex])
    fill.body.overtakeSlowReaders()
    fill.readersMoved()
  }
}
