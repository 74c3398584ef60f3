import PawlBase
import PawlDisk
import PawlLoop
import PawlObserve

/// What all loops have in common: logs, threads for what blocks, the clock, and what is remembered of origins and clients.
/// From any thread.
final class SharedServices: Sendable {
  let events: EventLog
  /// `nil`: `access-log = off`.
  let accessLog: AccessLog?
  let failures: FailureLog
  /// What is said once an hour: settings that routes lack.
  let advice: FailureLog
  let clock: any LoopClock
  let workers: WorkerPool
  /// For what takes as long as an upload is large: joining parts, digests of stored bytes. Nobody's sync waits for it.
  let longWorkers: WorkerPool
  let bufferMemory = BufferMemory()
  let codingMemory = CodingMemory()
  let probes = Locked(ProbeMemory())
  let originCodings = Locked(OriginCodings())

  /// Starts the threads; ``stop()`` ends them.
  init(events: EventLog, accessLog: AccessLog?, clock: any LoopClock) {
    (self.events, self.accessLog, self.clock) = (events, accessLog, clock)
    failures = FailureLog(events: events, clock: clock)
    advice = FailureLog(events: events, clock: clock, pause: .seconds(3600))
    workers = WorkerPool(threads: 4)
    longWorkers = WorkerPool(threads: 2, name: "pawl-long")
  }

  func reopenLogs() {
    accessLog?.reopen()
    events.reopen()
  }

  /// Ends the threads once they have done what was asked of them, and writes what the logs still hold. Blocking.
  func stop() {
    longWorkers.stop()
    workers.stop()
    accessLog?.flushLast()
    events.flushLast()
  }
}
