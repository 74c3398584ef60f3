import CLinux

/// Takes log lines from any thread and writes them on a thread of its own, so that no caller waits for a disk or a pipe. The
/// queue is bounded: lines that do not fit are dropped and counted.
///
/// Two flags are not part of `stage`: the order to reopen the file, and whether the last write failed.
///
/// Safe: the variables below are used only while `lock` is held, except that only the writer's thread uses `output` and
/// `isFailing`.
final class LineWriter: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let wakeWriter: UnsafeMutablePointer<pthread_cond_t>
  private let written: UnsafeMutablePointer<pthread_cond_t>
  private let capacity: Int
  private let batch: Int
  private let lingerMilliseconds: Int
  /// Whether each entry of the queue is a message behind its length, and not a line (``LogOutput/prefix``).
  private let takesMessages: Bool
  private var queue: [UInt8] = []
  private var dropped: UInt64 = 0
  /// The lines that were dropped and told of.
  private var droppedBefore: UInt64 = 0
  private var linesQueued: UInt64 = 0
  private var linesDone: UInt64 = 0
  /// The number of the last line that a caller of ``flush(atMost:)`` waits for. The lines up to it are written without delay.
  private var linesUrgent: UInt64 = 0
  private var wantsReopen = false
  /// Called once the file was opened again, with the reason if it was not.
  private var reopeners: [@Sendable (LogError?) -> Void] = []
  private var stage = Stage.open
  private var output: LogOutput
  private let trouble: (@Sendable (String) -> Void)?
  private let lost: (@Sendable (UInt64) -> Void)?
  /// When ``lost`` was last called. Only the writer's thread uses this.
  private var lostAt: Int64?
  /// Whether the last write failed. Only the writer's thread uses this flag. With it, only the first of several successive
  /// failures is reported.
  private var isFailing = false

  private enum Stage {
    case open
    /// Queued lines are still written; new lines are dropped.
    case closing
    /// The thread has ended.
    case ended
  }

  private var isUrgent: Bool { linesDone < linesUrgent }

  /// The least time between two calls of ``lost``.
  static let lossPause = Duration.seconds(10)

  /// The longest wait at the end of the program. It is limited because the reader of a pipe may be gone.
  static let lastWait = Duration.seconds(2)

  /// - Parameters:
  ///   - capacity: the most bytes that may be queued.
  ///   - batch: once this many bytes are queued, they are written without waiting for further lines.
  ///   - lingerMilliseconds: how long fewer bytes than `batch` wait for further lines.
  ///   - trouble: called on the writer's thread with the reason when a file cannot be reopened, or when lines begin to be
  ///     lost.
  ///   - lost: called on the writer's thread with the number of lines that were dropped since the last call, at most once in
  ///     ``lossPause``. If it is set, ``takeDropped()`` counts only what was not told yet.
  init(
    _ destination: LogDestination, capacity: Int, batch: Int, lingerMilliseconds: Int,
    trouble: (@Sendable (String) -> Void)? = nil, lost: (@Sendable (UInt64) -> Void)? = nil
  ) throws(LogError) {
    output = try LogOutput(destination)
    takesMessages = destination.takesMessages
    (self.trouble, self.lost) = (trouble, lost)
    (self.capacity, self.batch, self.lingerMilliseconds) = (capacity, batch, lingerMilliseconds)
    lock = .allocate(capacity: 1)
    wakeWriter = .allocate(capacity: 1)
    written = .allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
    pthread_cond_init(wakeWriter, nil)
    pthread_cond_init(written, nil)
    startThread()
  }

  deinit {
    pthread_mutex_destroy(lock)
    pthread_cond_destroy(wakeWriter)
    pthread_cond_destroy(written)
    lock.deallocate()
    wakeWriter.deallocate()
    written.deallocate()
  }

  /// Returns how many lines were dropped since the last call.
  func takeDropped() -> UInt64 {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    let count = dropped
    droppedBefore += count
    dropped = 0
    return count
  }

  /// How many lines were dropped since the start.
  var droppedCount: UInt64 {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return droppedBefore + dropped
  }

  /// Queues the one line that `append` appends. Drops the line if the queue is full. Never waits for the destination.
  func write(_ append: (inout [UInt8]) -> Void) {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    let before = queue.count
    guard stage == .open, before < capacity else {
      dropped += 1
      return
    }
    if takesMessages {
      queue.append(contentsOf: repeatElement(0, count: LogOutput.prefix))
      append(&queue)
      let length = queue.count - before - LogOutput.prefix
      for index in 0..<LogOutput.prefix { queue[before + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
    } else {
      append(&queue)
    }
    guard queue.count <= capacity else {
      queue.removeSubrange(before...)
      dropped += 1
      return
    }
    linesQueued += 1
    if before == 0 || (before < batch && queue.count >= batch) { pthread_cond_signal(wakeWriter) }
  }

  /// Queues one line. Drops the line if the queue is full. Never waits for the destination.
  func write(_ line: [UInt8]) { write { $0.append(contentsOf: line) } }

  /// Waits until every line queued so far has been passed to the destination, but not longer than `limit`.
  func flush(atMost limit: Duration = .seconds(3600)) {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    let goal = linesQueued
    var deadline = Self.deadline(in: limit)
    linesUrgent = max(linesUrgent, goal)
    while linesDone < goal, stage != .ended {
      pthread_cond_signal(wakeWriter)
      if pthread_cond_timedwait(written, lock, &deadline) == ETIMEDOUT { return }
    }
  }

  /// Tells the writer's thread to reopen the file before it writes the next line.
  /// - Parameter then: called once, on the writer's thread, with the reason if the file could not be opened: the old one stays in use.
  ///   At once, on this thread, if the writer has ended.
  func reopen(then: (@Sendable (LogError?) -> Void)? = nil) {
    pthread_mutex_lock(lock)
    let hasEnded = stage == .ended
    if !hasEnded {
      wantsReopen = true
      if let then { reopeners.append(then) }
      pthread_cond_signal(wakeWriter)
    }
    pthread_mutex_unlock(lock)
    if hasEnded { then?(nil) }
  }

  /// Lets the thread write the queued lines and end; does not wait for that. Later lines are dropped.
  func finish() {
    pthread_mutex_lock(lock)
    if stage == .open { stage = .closing }
    pthread_cond_signal(wakeWriter)
    pthread_mutex_unlock(lock)
  }

  /// Writes the queued lines and ends the thread; waits at most ``lastWait`` for that end. Later lines are dropped.
  func close() {
    finish()
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    var deadline = Self.deadline(in: Self.lastWait)
    while stage != .ended, pthread_cond_timedwait(written, lock, &deadline) != ETIMEDOUT {}
  }

  private static func deadline(in duration: Duration) -> timespec {
    var deadline = timespec()
    clock_gettime(CLOCK_REALTIME, &deadline)
    let (seconds, attoseconds) = duration.components
    let nanoseconds = deadline.tv_nsec + Int(attoseconds / 1_000_000_000)
    deadline.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    return deadline
  }

  private func startThread() {
    var thread = pthread_t()
    let retained = Unmanaged.passRetained(self)
    // The thread inherits this signal mask. So other threads handle the signals, and a broken pipe is an error here and not a
    // signal.
    var (every, before) = (sigset_t(), sigset_t())
    sigfillset(&every)
    pthread_sigmask(SIG_SETMASK, &every, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let code = pthread_create(
      &thread, nil,
      { pointer in
        guard let pointer else { return nil }
        // Safe: balances `passRetained`; the thread keeps the writer alive until it ends.
        Unmanaged<LineWriter>.fromOpaque(pointer).takeRetainedValue().run()
        return nil
      }, retained.toOpaque())
    guard code == 0 else {
      // Without a thread every line is dropped and counted. The program goes on.
      retained.release()
      stage = .ended
      return
    }
    pthread_setname_np(thread, "pawl-log")
    pthread_detach(thread)
  }

  private func run() {
    var taken: [UInt8] = []
    pthread_mutex_lock(lock)
    while true {
      while queue.isEmpty, stage == .open, !wantsReopen { pthread_cond_wait(wakeWriter, lock) }
      if queue.count < batch, !isUrgent, stage == .open, !wantsReopen { linger() }
      if queue.isEmpty, stage != .open, !wantsReopen { break }
      taken.removeAll(keepingCapacity: true)
      swap(&taken, &queue)
      let (goal, reopens) = (linesQueued, wantsReopen ? reopeners : nil)
      (wantsReopen, reopeners) = (false, [])
      pthread_mutex_unlock(lock)
      if let reopens { reopenNow(reopens) }
      let failures = deliver(taken)
      pthread_mutex_lock(lock)
      dropped += failures
      linesDone = goal
      pthread_cond_broadcast(written)
      tellLoss()
    }
    stage = .ended
    pthread_cond_broadcast(written)
    pthread_mutex_unlock(lock)
  }

  /// Tells of lines that were dropped. Call this with the lock, which is released meanwhile.
  private func tellLoss() {
    guard let lost, dropped > 0 else { return }
    let now = wallClockMilliseconds() / 1000
    if let lostAt, (lostAt..<lostAt + Self.lossPause.components.seconds).contains(now) { return }
    let count = dropped
    droppedBefore += count
    (dropped, lostAt) = (0, now)
    pthread_mutex_unlock(lock)
    lost(count)
    pthread_mutex_lock(lock)
  }

  /// Reopens the file. Call this without the lock. Lines that were queued before ``reopen(then:)`` may go to the old or the new file.
  private func reopenNow(_ done: [@Sendable (LogError?) -> Void]) {
    var failure: LogError?
    do throws(LogError) { try output.reopen() } catch {
      // The old file stays in use, so no line is lost. The operator sees the reason.
      failure = error
      trouble?(error.description)
    }
    for then in done { then(failure) }
  }

  /// Writes the lines. Call this without the lock.
  /// - Returns: how many lines were lost.
  private func deliver(_ bytes: [UInt8]) -> UInt64 {
    guard !bytes.isEmpty else { return 0 }
    let lost = output.write(bytes)
    let why = lost == 0 ? "" : String(cString: strerror(pawl_errno()))
    if lost > 0, !isFailing { trouble?("cannot write: \(why)") }
    isFailing = lost > 0
    return lost
  }

  /// Waits for further lines, at most `lingerMilliseconds`.
  private func linger() {
    guard lingerMilliseconds > 0 else { return }
    var deadline = Self.deadline(in: .milliseconds(lingerMilliseconds))
    while queue.count < batch, !isUrgent, stage == .open, !wantsReopen {
      if pthread_cond_timedwait(wakeWriter, lock, &deadline) != 0 { return }
    }
  }
}
