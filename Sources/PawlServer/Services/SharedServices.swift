import PawlBase
import PawlDisk
import PawlLoop
import PawlObserve

/// The services that all loops share: logs, pools for blocking work, the clock, and what is remembered of origins and clients.
/// Any thread.
final class SharedServices: Sendable {
  let events: EventLog
  private let accessLogInUse: Locked<AccessLog?>
  /// Lines that former access logs lost.
  private let lostBefore = Locked<UInt64>(0)
  let failures: FailureLog
  /// Advice about settings that routes lack; each piece of advice is logged at most once an hour.
  let advice: FailureLog
  let clock: any LoopClock
  let workers: WorkerPool
  /// The pool for work whose time grows with the size of an upload: joining parts, digests of stored bytes. The pool is separate
  /// so that no sync waits for such work.
  let longWorkers: WorkerPool
  let bufferMemory = BufferMemory()
  let codingMemory = CodingMemory()
  let probes = Locked(ProbeMemory())
  let originCodings = Locked(OriginCodings())
  let metrics = MetricsRegistry()
  let reloads: ReloadFacts

  /// Starts the threads; ``stop()`` ends them.
  init(events: EventLog, accessLog: AccessLog?, clock: any LoopClock) {
    (self.events, accessLogInUse, self.clock) = (events, Locked(accessLog), clock)
    reloads = ReloadFacts(startedAt: clock.wallSeconds())
    failures = FailureLog(events: events, clock: clock)
    advice = FailureLog(events: events, clock: clock, pause: .seconds(3600))
    workers = WorkerPool(threads: 4)
    longWorkers = WorkerPool(threads: 2, name: "pawl-long")
  }

  /// The access log in use; `nil`: `access-log = off`. Each loop keeps a reference of its own (``LoopServices/accessLog``).
  var accessLog: AccessLog? { accessLogInUse.withLock { $0 } }

  /// Replaces the access log for loops that start from now on. ``Server/replaceLogs(_:)`` replaces it on running loops.
  func replaceAccessLog(_ log: AccessLog?) {
    let former = accessLogInUse.withLock { inUse in
      defer { inUse = log }
      return inUse
    }
    guard let former, former !== log else { return }
    lostBefore.withLock { $0 += former.droppedCount }
  }

  /// Lines of access logs that were lost since the start.
  var lostAccessLines: UInt64 { lostBefore.withLock { $0 } + (accessLog?.droppedCount ?? 0) }

  /// Opens the log files again. A file that cannot be opened is logged, and the old one stays in use.
  /// - Parameter then: called once, on any thread, with the reasons why files could not be opened.
  func reopenLogs(_ then: @escaping @Sendable ([String]) -> Void = { _ in }) {
    let (accessLog, events) = (accessLog, events)
    events.reopen { first in
      let failures = first.map { [$0.description] } ?? []
      guard let accessLog else { return then(failures) }
      accessLog.reopen { then(failures + ($0.map { [$0.description] } ?? [])) }
    }
  }

  /// Ends the threads once their queued work is done, and flushes the logs. Blocking.
  func stop() {
    longWorkers.stop()
    workers.stop()
    accessLog?.flushLast()
    events.flushLast()
  }
}
