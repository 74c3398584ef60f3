import PawlBase

/// The drain: running answers may end, nothing new begins, and what still runs after `drain-timeout` is cut.
extension Server {
  /// Stops accepting, and lets running answers end. The caller cuts what is left after `drain-timeout` (``cutRemaining()``).
  /// - Parameter drained: called once, on a loop, when no connection is left.
  package func drain(_ drained: @escaping @Sendable () -> Void) {
    isDraining.store(1)
    whenDrained.withLock { $0 = drained }
    undrained.withLock { $0 = Set(loops.indices) }
    let left = Locked(loops.count)
    for entry in loops {
      entry.loop.run { [self] in
        entry.server.get().drain()
        let isLast = left.withLock { left in
          left -= 1
          return left == 0
        }
        // Only now, because a pawl that starts binds the addresses when it sees this.
        if isLast { services.workers.run { [self] in parts.withLock { $0 }.announceEnd() } }
      }
    }
  }

  /// Cuts everything that still runs, without a delay. Called when `drain-timeout` is over, or after a second signal.
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
