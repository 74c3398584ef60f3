import CLinux
import PawlBase
import PawlConfig
import PawlLoop

/// What the server does for a new binary that takes over: it lets go of its deliveries, then of its listeners and stores; and takes
/// them back if the new binary fails. All functions block, and run on the thread of the upgrade.
extension Server {
  /// The longest time for requests that write into uploads to end, once they were told to.
  private static let writersTime = Duration.seconds(5)

  /// The listening sockets, named by their addresses in the configuration; the names of unix sockets whose files pawl owns are marked
  /// (``InheritedSockets/ownedMark``).
  var handedSockets: [(name: String, descriptor: CInt)] {
    loops.flatMap { entry in
      entry.loop.answer {
        entry.server.get().listeners.map { ($0.name + ($0.ownsFile ? InheritedSockets.ownedMark : ""), $0.descriptor) }
      } ?? []
    }
  }

  /// Lets no delivery start, and waits for those that run. The server goes on serving everything else.
  /// - Returns: `false` if a delivery still runs after `limit`.
  func holdDeliveries(within limit: Duration) -> Bool {
    onEachLoop { $0.uploads.queue.hold() }
    return wait(within: limit) { [loops] in
      loops.allSatisfy { entry in entry.loop.answer { entry.server.get().uploads.queue.running.isEmpty } ?? true }
    }
  }

  func releaseDeliveries() { onEachLoop { $0.uploads.queue.release() } }

  /// Lets go of listeners and stores. No connection is accepted any more, uploads end at a synced offset, and what downloads still
  /// fetch is not stored. Downloads go on.
  func handOver() {
    onEachLoop { $0.beginHandOver() }
    let parts = parts.withLock { $0 }
    _ = wait(within: Self.writersTime) { !parts.spools.stores.contains(where: \.isBeingWritten) }
    onEachLoop { $0.uploads.queue.handOver() }
    parts.handOverStores()
  }

  /// Opens the stores again, as at a start, and serves as before.
  func takeBack() throws(ServerError) {
    let made = try ServerParts(configuration, services, resolver: resolver, old: nil)
    parts.withLock { $0 = made }
    onEachLoop { $0.takeBack(made.router) }
    checkNodes(made)
    beginDeliveries(stores: made.spools.stores, opened: made.spools.stores)
  }

  private func onEachLoop(_ work: @escaping @Sendable (ServerLoop) -> Void) {
    for entry in loops { _ = entry.loop.answer { work(entry.server.get()) } }
  }

  private func wait(within limit: Duration, until isDone: () -> Bool) -> Bool {
    let clock = SystemClock()
    let end = clock.now().advanced(by: limit)
    while !isDone() {
      guard clock.now() < end else { return false }
      usleep(5000)
    }
    return true
  }
}
