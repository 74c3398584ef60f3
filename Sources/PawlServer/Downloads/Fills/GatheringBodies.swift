import PawlCacheStore
import PawlLoop

/// The small bodies that are gathered in memory: a part of each has come, and no reader gets that part yet. A body that will not be
/// complete soon gets a file, and is then given to readers while it comes. One timer serves all bodies of a loop.
final class GatheringBodies {
  private var bodies: [(body: StoredBody, since: Monotonic)] = []
  private var timer: LoopTimer?

  /// Adds a body of which a part has come.
  func add(_ body: StoredBody, on loop: EventLoop) {
    if bodies.contains(where: { $0.body === body }) { return }
    bodies.append((body, loop.now))
    guard timer?.isScheduled != true else { return }
    let timer = timer ?? loop.makeTimer { [weak self, unowned loop] in self?.moveToFiles(on: loop) }
    self.timer = timer
    timer.schedule(after: StoredBody.gatheringTime)
  }

  private func moveToFiles(on loop: EventLoop) {
    let now = loop.now
    bodies.removeAll { entry in
      guard entry.body.isGathering else { return true }
      let time = now - entry.since
      guard time >= StoredBody.gatheringTime, !entry.body.isWholeSoon(after: time) else { return false }
      entry.body.moveToFileSoon()
      return true
    }
    if !bodies.isEmpty { timer?.schedule(after: StoredBody.gatheringTime) }
  }

  func stop() {
    timer?.close()
    timer = nil
    bodies = []
  }
}
