/// The drain of one loop: no connection is accepted, idle ones are closed, and the others end after their present answers.
extension ServerLoop {
  /// Whether closed TLS connections have written all their bytes to the kernel, or pawl does not wait for them any more.
  var hasClosedAll: Bool { loop.closingCount == 0 || isAbandoned }
  /// Whether the drain has nothing more to wait for.
  var isDrained: Bool { connections.members.isEmpty && uploads.queue.running.isEmpty && hasClosedAll }

  func drain() {
    services.isEnding = true
    checkNodes(of: [])
    loop.whenNoneCloses = { [weak self] in self.map { $0.server.drained($0) } }
    for listener in listeners { listener.close() }
    connections.drain()
    uploads.queue.drain()
    server.drained(self)
  }

  /// Cuts everything that still runs, without a delay. Called when `drain-timeout` is over, or after a second signal. Bytes
  /// that were fetched stay in the cache.
  func abandon() {
    isAbandoned = true
    connections.abandon()
    uploads.queue.stop()
    services.forgetReminders()
    server.drained(self)
  }
}
