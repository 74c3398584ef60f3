import CLinux
import PawlLoop
package import PawlObserve

/// The only writer of a catalogue: a thread that commits all changes since its last commit as one transaction.
///
/// A commit survives `kill -9` (`synchronous=NORMAL`); a durable commit also survives a power cut (`synchronous=FULL`). A failed
/// commit is repeated within a second. A catalogue that is found corrupt is not written any more, and is moved aside at the next
/// start.
package final class Catalogue: @unchecked Sendable {
  // Safe: `database` and `retry` belong to the writer thread once it runs; `state` is touched with `mutex` held.
  private let database: Database
  private let directory: String
  private let events: EventLog
  private let clock = SystemClock()
  private let onTick: @Sendable () -> Void
  private let onBatch: @Sendable () -> (any RowChanges)?
  private let onCommit: @Sendable () -> Void
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let arrived = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state = State()
  private var retry: [any RowChanges] = []
  private var isDurableMode: Bool?
  private var isBroken = false
  private let failures: FailureLog
  /// The number of changes that wait since a commit failed; `nil`: commits succeed.
  private var unrecorded: Int?
  private var thread: LoopThread?

  private struct State {
    var changes: [any RowChanges] = []
    var dirty: [any ChangeSource] = []
    var completions: [@Sendable (Bool) -> Void] = []
    var wantsDurable = false
    /// When the next commit is due, in monotonic nanoseconds; `.max`: there is nothing to commit.
    var due = UInt64.max
    var isClosing = false
    var isClosed = false
  }

  /// The longest time that a change of a source waits for its commit, in nanoseconds.
  static var linger: UInt64 { 50_000_000 }
  /// How long submitted changes wait for their commit if no caller waits for it, in nanoseconds. During this time further changes
  /// may come, and one commit records all of them.
  package static var pace: UInt64 { 4_000_000 }
  /// If at least `crowd` callers waited for a commit, the next commit comes at least `gathering` nanoseconds after it. In this
  /// time more callers usually come, and one commit for many callers costs little more than a commit for one caller.
  private static var crowd: Int { 4 }
  private static var gathering: UInt64 { 4_000_000 }
  private static var second: UInt64 { 1_000_000_000 }
  private static var retryLimit: Int { 200_000 }
  /// The least pause after a failed commit, in nanoseconds.
  private static var failurePause: UInt64 { 250_000_000 }

  /// - Parameters:
  ///   - onBatch: called before submitted changes are taken for a commit; returns more changes for the same commit. It must not
  ///     call the catalogue.
  ///   - onCommit: called when such a commit has succeeded.
  ///   - onTick: called about once a second; must not block. All three closures run on the catalogue's thread.
  package init(
    _ database: Database, directory: String, events: EventLog,
    onBatch: @escaping @Sendable () -> (any RowChanges)? = { nil },
    onCommit: @escaping @Sendable () -> Void = {}, onTick: @escaping @Sendable () -> Void
  ) throws(StoreError) {
    (self.onBatch, self.onCommit) = (onBatch, onCommit)
    (self.database, self.directory, self.events, self.onTick) = (database, directory, events, onTick)
    failures = FailureLog(events: events, clock: clock)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    arrived.initialize(to: pthread_cond_t())
    pthread_cond_init(arrived, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(arrived)
    arrived.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Starts the thread that commits.
  package func start() throws(StoreError) {
    do throws(LoopError) {
      thread = try LoopThread(name: "pawl-catalogue") { [self] in writeUntilClosed() }
    } catch {
      throw .system(call: "pthread_create", path: "\(error)", errno: EAGAIN)
    }
  }

  // MARK: From any thread

  /// Submits changes, which are recorded soon. `completion` runs on the catalogue's thread after the commit, with `true` if the
  /// commit succeeded. If the catalogue is closed, `completion` runs at once, with `false`.
  package func submit(
    _ changes: (any RowChanges)?, durably: Bool = false, isUrgent: Bool = false,
    then completion: (@Sendable (Bool) -> Void)? = nil
  ) {
    let isTaken = update { state in
      if let changes, changes.count > 0 { state.changes.append(changes) }
      if let completion { state.completions.append(completion) }
      if durably { state.wantsDurable = true }
      state.due = durably || isUrgent ? 0 : min(state.due, clock.now().nanoseconds + Self.pace)
    }
    if !isTaken { completion?(false) }
  }

  /// Asks `source` for its changes at the next commit, which is due within 50 ms, or within 4 ms if `soon`.
  package func noteDirty(_ source: any ChangeSource, soon: Bool) {
    update { state in
      state.dirty.append(source)
      state.due = min(state.due, clock.now().nanoseconds + (soon ? Self.pace : Self.linger))
    }
  }

  /// Makes the next commit due within 4 ms, because a source (``noteDirty(_:soon:)``) has so many changes that they should not wait
  /// 50 ms.
  package func hurry() { update { $0.due = min($0.due, clock.now().nanoseconds + Self.pace) } }

  /// Records the changes of `source` at once, then runs `completion` on the catalogue's thread, with `true` if the commit
  /// succeeded.
  package func record(
    _ source: any ChangeSource, durably: Bool = false, then completion: @escaping @Sendable (Bool) -> Void
  ) {
    let isTaken = update { state in
      state.dirty.append(source)
      state.completions.append(completion)
      if durably { state.wantsDurable = true }
      state.due = 0
    }
    if !isTaken { completion(false) }
  }

  /// Waits until all changes submitted so far are committed; `false`: the commit failed. Blocking: do not call this on a loop or on
  /// the catalogue's thread.
  @discardableResult
  package func barrier(durably: Bool = false) -> Bool {
    let done = DispatchedResult()
    submit(nil, durably: durably, isUrgent: true) { done.set($0) }
    return done.wait()
  }

  /// Commits the waiting changes durably and ends the thread.
  package func close() {
    update { state in
      state.isClosing = true
      state.due = 0
    }
    thread?.join()
    thread = nil
    // After a checkpoint the next start has to read one file only. If the checkpoint fails, the next start reads the write-ahead
    // log, too.
    do throws(StoreError) {
      try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    } catch {
      events.log(.warning, "catalogue-checkpoint-failed", ["why": "\(error)"])
    }
  }

  /// Changes the state and wakes the thread if necessary. `false`: the catalogue is closed, and nothing was changed.
  @discardableResult
  private func update(_ body: (inout State) -> Void) -> Bool {
    pthread_mutex_lock(mutex)
    guard !state.isClosed else {
      pthread_mutex_unlock(mutex)
      return false
    }
    let before = state.due
    body(&state)
    let isNews = state.due < before || state.isClosing
    pthread_mutex_unlock(mutex)
    // Signal only after the mutex is unlocked; otherwise the thread would wake up and wait for the mutex.
    if isNews { pthread_cond_signal(arrived) }
    return true
  }

  // MARK: The writer thread

  private func writeUntilClosed() {
    var nextTick = clock.now().nanoseconds + Self.second
    var earliest: UInt64 = 0
    while true {
      let batch = awaitWork(until: nextTick, notBefore: earliest)
      commit(batch)
      let now = clock.now().nanoseconds
      earliest = batch.completions.count >= Self.crowd ? now + Self.gathering : 0
      if unrecorded != nil { earliest = now + Self.failurePause }
      if now >= nextTick {
        nextTick = now + Self.second
        onTick()
      }
      if batch.isClosing && endIfIdle() { break }
    }
  }

  /// Closes the catalogue if nothing came since the last commit. Nothing is accepted after that.
  private func endIfIdle() -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard state.changes.isEmpty, state.dirty.isEmpty, state.completions.isEmpty else {
      state.due = 0
      return false
    }
    state.isClosed = true
    return true
  }

  private func awaitWork(until tick: UInt64, notBefore earliest: UInt64) -> State {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      let deadline = min(max(state.due, state.isClosing ? 0 : earliest), tick)
      if deadline <= clock.now().nanoseconds { break }
      var time = timespec()
      time.tv_sec = time_t(deadline / Self.second)
      time.tv_nsec = CLong(deadline % Self.second)
      pthread_cond_timedwait(arrived, mutex, &time)
    }
    let more = state.changes.isEmpty && state.dirty.isEmpty ? nil : onBatch()
    var batch = state
    if let more, more.count > 0 { batch.changes.append(more) }
    state = State()
    state.isClosing = batch.isClosing
    return batch
  }

  private func commit(_ batch: State) {
    var changes = retry + batch.changes
    for source in batch.dirty {
      if let taken = source.takeChanges() { changes.append(taken) }
    }
    retry = []
    var isRecorded = !isBroken
    if !isBroken && (!changes.isEmpty || batch.wantsDurable) {
      do throws(StoreError) {
        try transact(changes, durably: batch.wantsDurable || batch.isClosing)
        noteSuccess()
        if !batch.changes.isEmpty || !batch.dirty.isEmpty { onCommit() }
      } catch {
        isRecorded = false
        giveUp(changes, on: error)
      }
    }
    for completion in batch.completions { completion(isRecorded) }
  }

  private func transact(_ changes: [any RowChanges], durably: Bool) throws(StoreError) {
    if isDurableMode != durably {
      try database.execute("PRAGMA synchronous = \(durably ? "FULL" : "NORMAL")")
      isDurableMode = durably
    }
    try database.run("BEGIN IMMEDIATE")
    do throws(StoreError) {
      for some in changes { try some.apply(to: database) }
      // A transaction without a write would not sync anything.
      if changes.isEmpty { try CatalogueSchema.setMeta(database, "synced", clock.wallSeconds()) }
      try database.run("COMMIT")
    } catch {
      do throws(StoreError) {
        try database.execute("ROLLBACK")
      } catch {
        // After severe errors SQLite has rolled back by itself, and reports that there is no transaction.
        events.log(.debug, "catalogue-rolled-back", ["why": "\(error)"])
      }
      throw error
    }
  }

  /// Logs that commits succeed again after failures.
  private func noteSuccess() {
    guard let count = unrecorded else { return }
    unrecorded = nil
    events.log(.notice, "catalogue-recovered", ["path": directory, "kept": "\(count)"])
  }

  /// Keeps the changes of a failed commit for the next try, or abandons the catalogue if it is corrupt, or if more than
  /// `retryLimit` changes wait.
  private func giveUp(_ changes: [any RowChanges], on error: StoreError) {
    let kept = changes.compacted()
    let count = kept.reduce(0) { $0 + $1.count }
    guard !error.isCorruptCatalogue, count <= Self.retryLimit else { return abandon(error) }
    unrecorded = count
    failures.log(
      .error, "catalogue-failed", of: "\(error)", ["path": directory, "why": "\(error)", "kept": "\(count)"])
    retry = kept
    update { $0.due = min($0.due, clock.now().nanoseconds + Self.second) }
  }

  /// Stops recording until the process ends. The next start finds the mark (``BrokenCatalogue``) and begins with an empty
  /// catalogue.
  private func abandon(_ error: StoreError) {
    events.log(.error, "catalogue-lost", ["why": "\(error)", "path": directory])
    isBroken = true
    BrokenCatalogue.markBroken(in: directory, events)
  }
}
