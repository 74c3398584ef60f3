/// The drain of one loop: no connection is accepted, those that are idle close, and the others end with the answer they give.
extension ServerLoop {
  /// Whether no answer that counts as sent is still on its way to its client's socket.
  var hasClosedAll: Bool { loop.closingCount == 0 || isAbandoned }
  /// Whether nothing is left that a drain waits for.
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

  /// The time for draining is over: what still runs is cut, what was fetched stays.
  func abandon() {
    isAbandoned = true
    connections.abandon()
    uploads.queue.stop()
    services.forgetReminders()
    server.drained(self)
  }
}
