import PawlBase
import PawlLoop
import PawlObserve

/// Asks all loops at intervals what they do, and tells the service manager: `STATUS=` with the numbers, and `WATCHDOG=1` once every
/// loop has answered. A loop that is stuck does not answer, so the service manager gets no `WATCHDOG=1` and restarts pawl. Lives on
/// the main loop.
final class LoopPulse {
  /// What the loops do.
  struct Count: Hashable, Sendable {
    var connections = 0
    var deliveries = 0

    /// The text of `STATUS=`.
    func text(isDraining: Bool) -> String {
      "\(isDraining ? "Draining" : "Serving"): \(connections) connection\(connections == 1 ? "" : "s"), "
        + "\(deliveries) deliver\(deliveries == 1 ? "y" : "ies") of uploads"
    }
  }

  /// The time between two rounds, if the service manager does not watch pawl, and the longest one.
  static let interval = Duration.seconds(10)
  /// The number of rounds in the time after which the service manager restarts pawl. One late answer does no harm.
  static let roundsPerLimit = 4

  private let server: Server
  private let loop: EventLoop
  private let isWatched: Bool
  private let every: Duration
  private let tell: (String) -> Void
  private var timer: LoopTimer?
  private var round: Round?
  private var isStuck = false
  var isDraining = false

  /// The answers of one round.
  private final class Round: Sendable {
    private let left: Locked<(loops: Int, count: Count)>

    init(loops: Int) { left = Locked((loops, Count())) }

    /// The sum of all answers; `nil` while one of them is missing.
    var count: Count? { left.withLock { $0.loops == 0 ? $0.count : nil } }

    func add(_ count: Count) {
      left.withLock { left in
        left.loops -= 1
        left.count.connections += count.connections
        left.count.deliveries += count.deliveries
      }
    }
  }

  /// `nil`: no service manager expects messages.
  convenience init?(_ server: Server, on loop: EventLoop) {
    guard SystemdNotifier.isExpected else { return nil }
    let events = server.events
    self.init(server, on: loop, watchdog: SystemdNotifier.watchdog()) { ServerSignals.notify($0, events) }
  }

  /// - Parameters:
  ///   - watchdog: the time after which the service manager restarts a silent pawl; `nil`: it does not.
  ///   - tell: sends assignments to the service manager.
  init(_ server: Server, on loop: EventLoop, watchdog: Duration?, tell: @escaping (String) -> Void) {
    (self.server, self.loop, self.tell) = (server, loop, tell)
    isWatched = watchdog != nil
    every = min(Self.interval, watchdog.map { $0 / Self.roundsPerLimit } ?? Self.interval)
  }

  func start() {
    let timer = loop.makeTimer { [weak self] in self?.beat() }
    self.timer = timer
    begin()
    timer.schedule(after: every)
  }

  /// Ends a round, and begins the next one. If a loop has not answered yet, the round goes on.
  func beat() {
    timer?.schedule(after: every)
    guard let count = round?.count else { return noteStuck() }
    isStuck = false
    tell("STATUS=\(count.text(isDraining: isDraining))" + (isWatched ? "\nWATCHDOG=1" : ""))
    begin()
  }

  private func begin() {
    let loops = server.loops
    let round = Round(loops: loops.count)
    self.round = round
    for entry in loops { entry.loop.run { round.add(entry.server.get().count) } }
  }

  private func noteStuck() {
    if isStuck { return }
    isStuck = true
    server.events.log(.warning, "loop-stuck", ["seconds": "\(every.components.seconds)"])
  }
}

extension ServerLoop {
  /// What the loop does now.
  var count: LoopPulse.Count {
    LoopPulse.Count(connections: connections.members.count, deliveries: uploads.queue.running.count)
  }
}
