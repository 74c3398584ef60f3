import CLinux
import PawlBase
import PawlLoop

/// One run, from its first connection to its result: starts the workers, collects their counts once a second, and adds them up.
/// Blocks the calling thread.
package final class Run {
  private var settings: RunSettings
  private let observer: (any RunObserver)?
  private let meter: (any ProcessMeter)?
  private let watchesSignals: Bool
  private let loop: EventLoop
  private var crew: [Crew] = []
  private var sum: Summing
  private var isMeasuring = false
  private var isOver = false
  private var ticker: LoopTimer?
  private var asked: (answers: Int, tally: Tally) = (0, Tally())
  private var exhaustedCount = 0

  /// A worker on its thread.
  private struct Crew {
    let loop: EventLoop
    let thread: LoopThread
    let worker: Locked<Worker?>
    let operations: UInt64?
  }

  /// - Parameter watchesSignals: whether SIGINT and SIGTERM end the run early, with its result.
  /// - Throws: ``RunProblem`` if the process has no descriptors left.
  package init(
    _ settings: RunSettings, observer: (any RunObserver)? = nil, meter: (any ProcessMeter)? = nil,
    watchesSignals: Bool = true
  ) throws(RunProblem) {
    (self.settings, self.observer, self.meter) = (settings, observer, meter)
    self.watchesSignals = watchesSignals
    do throws(LoopError) {
      try DescriptorLimit.raise()
      loop = try EventLoop(index: -1)
    } catch { throw RunProblem("\(error)") }
    sum = Summing(settings, meter)
  }

  /// Performs the run and returns its result.
  /// - Throws: ``RunProblem`` if the run cannot begin.
  package func perform() throws(RunProblem) -> RunResult {
    if let core = settings.core { try Affinity.pin(to: core) }
    let preparation = Preparation(loop: loop, settings: settings)
    let server = try preparation.place(of: settings.target)
    let reference = try preparation.reference(server)
    if case .upload(var plan) = settings.scenario, let reference {
      plan.size = reference.count
      settings.scenario = .upload(plan)
      sum = Summing(settings, meter)
    }
    let body = settings.uploadBody(reference)
    observer?.runBegan(settings.plan)
    try startWorkers(server, reference, body)
    let signals = watchesSignals ? try watchSignals() : nil
    defer { signals?.close() }
    begin()
    loop.turn { !isOver }
    for member in crew { member.loop.stop() }
    for member in crew { member.thread.join() }
    let result = sum.result()
    observer?.runEnded(result)
    return result
  }

  private func watchSignals() throws(RunProblem) -> SignalWatcher {
    do throws(LoopError) {
      return try SignalWatcher(loop, [SIGINT, SIGTERM]) { [unowned self] _ in end() }
    } catch { throw RunProblem("\(error)") }
  }

  // MARK: Workers

  private func startWorkers(_ server: ServerPlace, _ reference: Reference?, _ body: UploadBody?) throws(RunProblem) {
    let main = LoopBound(self, on: loop)
    let home = loop
    for index in 0..<settings.threads {
      let slot = Locked<Worker?>(nil)
      let share = settings.share(of: index)
      do throws(LoopError) {
        let (loop, thread) = try EventLoop.startThread(index: index)
        crew.append(Crew(loop: loop, thread: thread, worker: slot, operations: share.operations))
        loop.run { [settings] in
          Self.pin(settings, index)
          let worker = Worker(
            loop, index: index, settings: settings, server: server, reference: reference, body: body,
            exhausted: { home.run { main.get().oneIsExhausted() } })
          Lanes.build(worker, connections: share.connections, before: share.before)
          slot.withLock { $0 = worker }
        }
      } catch { throw RunProblem("\(error)") }
    }
  }

  private static func pin(_ settings: RunSettings, _ index: Int) {
    guard let core = settings.core else { return }
    // The first core was checked in `perform`. If there are fewer cores than threads, some threads are not bound to a core.
    do throws(RunProblem) { try Affinity.pin(to: core + index) } catch { return }
  }

  /// Performs `order` on each worker's loop.
  private func tell(_ order: @escaping @Sendable (Worker, UInt64?) -> Void) {
    for member in crew {
      let (slot, operations) = (member.worker, member.operations)
      member.loop.run {
        guard let worker = slot.withLock({ $0 }) else { return }
        order(worker, operations)
      }
    }
  }

  // MARK: The course of the run

  private func begin() {
    let start = loop.clock.now().nanoseconds + 2_000_000
    let warmsUp = settings.warmUp > 0
    sum.look()
    tell { worker, operations in
      // This fails only if the process has no descriptors left. Then some operations never begin, and the counts show that.
      do throws(LoopError) { try worker.start(operations: warmsUp ? nil : operations, at: start) } catch { return }
    }
    guard warmsUp else { return beginMeasurement() }
    let timer = loop.makeTimer { [unowned self] in beginMeasurement() }
    ticker = timer
    timer.schedule(after: .seconds(settings.warmUp))
  }

  private func beginMeasurement() {
    isMeasuring = true
    if settings.warmUp > 0 { tell { worker, operations in worker.beginMeasurement(operations: operations) } }
    sum.begin(at: loop.clock.now().nanoseconds, wall: loop.clock.wallMilliseconds())
    ticker = loop.makeTimer { [unowned self] in second() }
    scheduleSecond()
  }

  private func scheduleSecond() {
    let now = loop.clock.now().nanoseconds
    var wait = sum.nextSecond(after: now)
    if case .seconds(let all) = settings.length { wait = min(wait, sum.remaining(of: all, at: now)) }
    ticker?.schedule(after: .nanoseconds(Int64(wait)))
  }

  private func second() {
    if case .seconds(let all) = settings.length, sum.remaining(of: all, at: loop.clock.now().nanoseconds) == 0 {
      return end()
    }
    collect(isLast: false)
    scheduleSecond()
  }

  private func oneIsExhausted() {
    exhaustedCount += 1
    if exhaustedCount == crew.count { end() }
  }

  private func end() {
    guard isMeasuring else { return isOver = true }
    isMeasuring = false
    ticker?.close()
    collect(isLast: true)
  }

  private func collect(isLast: Bool) {
    let main = LoopBound(self, on: loop)
    let home = loop
    if isLast { sum.end(at: loop.clock.now().nanoseconds) }
    tell { worker, _ in
      if isLast { worker.stop() }
      let tally = worker.takeTally()
      home.run { main.get().add(tally, isLast) }
    }
  }

  private func add(_ tally: Tally, _ isLast: Bool) {
    asked.answers += 1
    asked.tally.add(tally)
    guard asked.answers == crew.count else { return }
    let whole = asked.tally
    asked = (0, Tally())
    if let sample = sum.add(whole, at: loop.clock.now().nanoseconds) { observer?.sample(sample) }
    if isLast { isOver = true }
  }
}

extension RunSettings {
  /// Returns how many of the connections and operations one thread gets. `before` is the number of connections of earlier
  /// threads.
  func share(of index: Int) -> (connections: Int, before: Int, operations: UInt64?) {
    // The readers of one body stay on one thread.
    var unit = 1
    if case .fill(_, let readers) = scenario { unit = readers }
    let units = connections / unit
    let own = unit * (units / threads + (index < units % threads ? 1 : 0))
    let before = unit * (units / threads * index + min(index, units % threads))
    guard case .operations(let all) = length else { return (own, before, nil) }
    return (own, before, all / UInt64(threads) + (UInt64(index) < all % UInt64(threads) ? 1 : 0))
  }

  func uploadBody(_ reference: Reference?) -> UploadBody? {
    guard case .upload(let plan) = scenario else { return nil }
    if let reference { return UploadBody(block: reference.bytes, size: plan.size) }
    return UploadBody(size: plan.size, seed: seed)
  }
}
