/// The drain: what runs may end, nothing begins, and who still runs when the time is over is cut.
extension Server {
  /// Stops accepting, lets running answers end within `drain-timeout`, then cuts what is left. Calls back once, from
  /// a loop, when no connection is left.
  package func drain(_ drained: @escaping @Sendable () -> Void) {
    whenDrained.withLock { $0 = drained }
    undrained.withLock { $0 = Set(loops.indices) }
    for entry in loops { entry.loop.run { entry.server.get().drain() } }
  }

  /// The time for draining is over.
  package func cutRemaining() { for entry in loops { entry.loop.run { entry.server.get().abandon() } } }

  func drained(_ loop: ServerLoop) {
    guard loop.isDrained else { return }
    let isLast = undrained.withLock { left in left.remove(loop.loop.index) != nil && left.isEmpty }
    guard isLast else { return }
    whenDrained.withLock { drained in
      defer { drained = nil }
      return drained
    }?()
  }
}
