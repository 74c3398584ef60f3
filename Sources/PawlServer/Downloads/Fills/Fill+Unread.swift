import PawlCache
import PawlLoop
import PawlStore

/// Where readers do not keep up, or have left: how far a body of unknown length goes on, and who waits for whom.
extension Fill {
  func watchSlowReaders() {
    let overtaking = overtaking ?? Overtaking()
    self.overtaking = overtaking
    overtaking.begin(self)
  }

  /// All that read the body were overtaken, and go on by themselves.
  func endUnread() {
    guard let fetch, !isWriting else { return }
    owner.events.log(
      .info, "fill-paused",
      ["upstream": route.upstreamName, "body": body.id.hex, "at": "\(fetch.frontier)", "why": "readers-overtaken"])
    coordinator?.ended(self)
    letGo()
  }

  /// Nobody reads it, and it has brought as much as it may.
  func endIfEnough(_ frontier: UInt64) {
    guard let allowance else { return }
    if hasReaders { return self.allowance = nil }
    if allowance.isEnough(frontier) { pauseForGood("abandoned-fill") }
  }

  func watchPace() {
    let timer = paceTimer ?? owner.loop.makeTimer { [weak self] in self?.lookAtPace() }
    paceTimer = timer
    timer.schedule(after: AbandonedUnknown.interval)
  }

  func lookAtPace() {
    guard let fetch, allowance != nil, !hasReaders else { return }
    guard allowance?.keepsPace(fetch.frontier) == true else { return pauseForGood("no-readers") }
    paceTimer?.schedule(after: AbandonedUnknown.interval)
  }
}
