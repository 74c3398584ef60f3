import CLinux
import PawlBase
import PawlConfig
import PawlLoop
import PawlUploadStore

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
  /// - Parameters:
  ///   - lending: whether deliveries may be lent: then this waits ``LentDeliveries/patience`` for all, and after that for those that
  ///     cannot be lent.
  ///   - most: how many may be lent.
  /// - Returns: `false` if a delivery still runs after `limit`.
  func holdDeliveries(within limit: Duration, lending: Bool, atMost most: Int = LentDeliveries.limit) -> Bool {
    onEachLoop { $0.uploads.queue.hold() }
    let patience = lending ? min(limit, LentDeliveries.patience) : limit
    if wait(within: patience, until: { deliveries.isEmpty }) { return true }
    return lending
      && wait(within: max(limit - patience, .milliseconds(1))) {
        areLendable && deliveries.count <= most
      }
  }

  /// The uploads that are being delivered: by this process, or by one before it.
  private var deliveries: Set<UploadID> {
    let running = loops.flatMap { entry in
      entry.loop.answer { Array(entry.server.get().uploads.queue.running.keys) } ?? []
    }
    return borrowed.withLock { $0.reduce(into: Set(running)) { $0.formUnion($1.ids) } }
  }

  private var areLendable: Bool {
    loops.allSatisfy { entry in entry.loop.answer { entry.server.get().uploads.queue.isLendable } ?? true }
  }

  func releaseDeliveries() { onEachLoop { $0.uploads.queue.release() } }

  /// Lets go of listeners and stores. No connection is accepted any more, uploads end at a synced offset, and what downloads still
  /// fetch is not stored. Downloads go on.
  /// - Parameter lender: has the steps of the deliveries recorded that still run; `nil`: none runs.
  /// - Returns: the uploads whose deliveries are lent.
  func handOver(lendingTo lender: LentDeliveries?) -> Set<UploadID> {
    onEachLoop { $0.beginHandOver() }
    let parts = parts.withLock { $0 }
    _ = wait(within: Self.writersTime) { !parts.spools.stores.contains(where: \.isBeingWritten) }
    onEachLoop { $0.uploads.queue.handOver() }
    parts.handOverStores(lendingTo: lender)
    let lent = lender == nil ? [] : deliveries
    if !lent.isEmpty { events.log(.notice, "deliveries-lent", ["count": "\(lent.count)"]) }
    return lent
  }

  /// Has the steps of the lent deliveries recorded by the new process, which serves.
  func lend(_ lender: LentDeliveries, over descriptor: CInt, on loop: EventLoop) {
    lender.connect(descriptor, on: loop) { [weak self] in
      guard let self else { return }
      for borrowed in borrowed.withLock({ $0 }) { borrowed.closeLine() }
      for entry in loops { entry.loop.run { entry.server.get().loseDeliveries() } }
    }
  }

  /// Opens the stores again, as at a start, and serves as before.
  /// - Parameters:
  ///   - lent: the uploads whose deliveries were lent. They go on.
  ///   - lender: has had their steps recorded.
  func takeBack(_ lent: Set<UploadID>, from lender: LentDeliveries?) throws(ServerError) {
    let made = try ServerParts(configuration, services, resolver: resolver, old: nil, lent: lent)
    parts.withLock { $0 = made }
    let borrowed = borrow(from: made)
    onEachLoop { $0.takeBack(made.router) }
    checkNodes(made)
    beginDeliveries(stores: made.spools.stores, foundSent: made.spools.foundSent)
    // Last, because this process makes the next attempt of an upload that comes back.
    lender?.connect(borrowed)
  }

  // MARK: - The new process

  /// Records the steps of the deliveries that go on elsewhere.
  func borrow(from parts: ServerParts) -> BorrowedDeliveries {
    let uploads = parts.spools.stores.flatMap(\.lentUploads)
    let made = BorrowedDeliveries(
      uploads,
      find: { [weak self] id in
        self?.parts.withLock { $0.spools.stores.lazy.compactMap { $0.find(id) }.first }
      },
      homes: { [weak self] in self?.homes ?? [] },
      oneEnded: { [weak self] in self?.oneLentEnded() })
    borrowed.withLock { $0.append(made) }
    return made
  }

  /// Receives the steps of the process before this one.
  func borrow(from predecessor: Predecessor, on loop: EventLoop) {
    guard let descriptor = predecessor.takeLine() else { return }
    guard let borrowed = borrowed.withLock({ $0.first }) else { return _ = close(descriptor) }
    borrowed.connect(descriptor, on: loop)
  }

  /// Whether deliveries go on elsewhere that are recorded here.
  var isBorrowing: Bool { borrowed.withLock { $0.contains { !$0.ids.isEmpty } } }

  private func oneLentEnded() {
    guard isDraining.load() != 0, !isBorrowing else { return }
    for entry in loops { entry.loop.run { [self] in drained(entry.server.get()) } }
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
