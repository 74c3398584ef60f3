import PawlLoop
import PawlObserve

/// The drain of one loop: no connection is accepted, idle ones are closed, and the others end after their present answers.
extension ServerLoop {
  /// Whether closed TLS connections have written all their bytes to the kernel, or pawl does not wait for them any more.
  var hasClosedAll: Bool { loop.closingCount == 0 || isAbandoned }
  /// Whether the drain has nothing more to wait for.
  var isDrained: Bool {
    connections.members.isEmpty && uploads.queue.running.isEmpty && hasClosedAll
      && (isAbandoned || !server.isBorrowing)
  }

  func drain() {
    // First, so that the connections that wait are served: the kernel resets those that a closed listener leaves behind.
    // After a hand-over they are for the new process, which accepts from the same sockets.
    for listener in listeners { services.isHandingOver ? listener.leavePath() : listener.acceptRest() }
    services.isEnding = true
    checkNodes(of: [])
    loop.whenNoneCloses = { [weak self] in self.map { $0.server.drained($0) } }
    for listener in listeners { listener.close() }
    for listener in boundListeners.values.joined() { listener.close() }
    boundListeners = [:]
    connections.drain(isReplaced: services.isHandingOver)
    uploads.queue.drain()
    server.drained(self)
  }

  // MARK: - A new binary takes over

  /// Accepts no connection any more, which wait in the kernel; and begins to end those that are there, as in a drain.
  func beginHandOver() {
    services.isHandingOver = true
    for listener in listeners { listener.pause() }
    connections.drain(isReplaced: true)
  }

  /// Serves again after ``beginHandOver()``.
  func takeBack(_ router: Router) {
    services.router = router
    services.isHandingOver = false
    connections.isDraining = false
    uploads.queue.takeBack()
    for listener in listeners {
      do throws(LoopError) { try listener.resume() } catch {
        services.events.log(.error, "accept-failed", ["why": "\(error)", "omitted": "0"])
      }
    }
  }

  /// Cuts the deliveries whose steps nobody records any more, because the process that took over has ended. What became of them is
  /// decided by the next start.
  func loseDeliveries() {
    services.hasLostDeliveries = true
    noteCut("the new process has ended")
    uploads.queue.cutLent()
  }

  private func noteCut(_ why: String) {
    let count = uploads.queue.running.count
    guard count > 0 else { return }
    services.events.log(.warning, "deliveries-cut", ["count": "\(count)", "why": why])
  }

  /// Cuts everything that still runs, without a delay. Called when `drain-timeout` is over, or after a second signal. Bytes
  /// that were fetched stay in the cache.
  func abandon() {
    isAbandoned = true
    if services.isHandingOver { noteCut("upgrade-timeout is over, or a second signal came") }
    connections.abandon()
    uploads.queue.stop()
    services.forgetReminders()
    server.drained(self)
  }
}
