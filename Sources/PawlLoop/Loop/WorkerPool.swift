import CLinux
import DequeModule

/// A pool of threads for blocking calls, such as disk access and name resolution. Work starts in the order in which it was given
/// to the pool. A thread is started when it is first needed.
package final class WorkerPool: @unchecked Sendable {
  // Safe: everything below is used with `mutex` held; `threadLimit` and `name` are constant.
  private let name: String
  private let threadLimit: Int
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let arrived: UnsafeMutablePointer<pthread_cond_t>
  private var queue = Deque<@Sendable () -> Void>()
  private var threads: [LoopThread] = []
  private var idleCount = 0
  private var isStopping = false

  /// - Parameter name: the name of the threads in `top -H`, followed by a number.
  package init(threads: Int, name: String = "pawl-disk") {
    precondition(threads > 0, "a pool needs a thread")
    self.name = name
    threadLimit = threads
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    arrived = .allocate(capacity: 1)
    arrived.initialize(to: pthread_cond_t())
    pthread_cond_init(arrived, nil)
  }

  deinit {
    pthread_cond_destroy(arrived)
    arrived.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Performs `work` on a thread of the pool, then `completion` with the result on `loop`. The completion is also released on
  /// `loop`. Call this on that loop.
  /// - Returns: `false` if the pool has stopped. Then neither `work` nor `completion` is performed.
  @discardableResult
  package func run<R: Sendable>(
    _ work: @escaping @Sendable () -> R, then loop: EventLoop, _ completion: @escaping (R) -> Void
  ) -> Bool {
    loop.preconditionOnLoop()
    let job = Job(work, completion)
    return enqueue { [loop] in job.work(loop) }
  }

  /// Performs `work` on a thread of the pool. From any thread.
  /// - Returns: `false` if the pool has stopped. Then the work is not performed.
  @discardableResult
  package func run(_ work: @escaping @Sendable () -> Void) -> Bool { enqueue(work) }

  /// The number of pieces of work that wait for a thread. From any thread.
  package var waitingCount: Int {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return queue.count
  }

  /// Stops the pool: refuses new work, finishes the queued work, and returns when the last thread has ended. Do not call it on a
  /// thread of the pool. Do not call it on a loop whose pending completions matter: the loop waits here, so it cannot perform
  /// them.
  package func stop() {
    pthread_mutex_lock(mutex)
    isStopping = true
    let threads = threads
    self.threads = []
    pthread_cond_broadcast(arrived)
    pthread_mutex_unlock(mutex)
    for thread in threads { thread.join() }
  }

  private func enqueue(_ work: @escaping @Sendable () -> Void) -> Bool {
    pthread_mutex_lock(mutex)
    guard !isStopping else {
      pthread_mutex_unlock(mutex)
      return false
    }
    queue.append(work)
    let wakesOne = idleCount >= queue.count
    if !wakesOne, threads.count < threadLimit { startThread() }
    pthread_mutex_unlock(mutex)
    // The signal comes after the mutex is free, because the woken thread would otherwise wait for the mutex.
    if wakesOne { pthread_cond_signal(arrived) }
    return true
  }

  /// Starts a thread. The caller holds the mutex. If the system cannot create another thread, the running threads take the work
  /// in turn.
  private func startThread() {
    do throws(LoopError) {
      threads.append(try LoopThread(name: "\(name)-\(threads.count)") { [self] in workUntilStopped() })
    } catch {
      // The first thread is necessary: pawl cannot work without it.
      precondition(!threads.isEmpty, "no thread for \(name): \(error)")
    }
  }

  private func workUntilStopped() {
    pthread_mutex_lock(mutex)
    while true {
      if var work = queue.popFirst() {
        pthread_mutex_unlock(mutex)
        work()
        // The closure is released without the mutex: what it holds may give the pool new work when it is released.
        work = {}
        pthread_mutex_lock(mutex)
      } else if isStopping {
        break
      } else {
        idleCount += 1
        pthread_cond_wait(arrived, mutex)
        idleCount -= 1
      }
    }
    pthread_mutex_unlock(mutex)
  }
}

/// Work whose result goes back to a loop.
private final class Job<R: Sendable>: MailboxItem, @unchecked Sendable {
  // Safe: one thread at a time uses the job. The loop makes it, a worker stores the result, and the mailbox passes it back to the
  // loop.
  private var blocking: (@Sendable () -> R)?
  private var completion: ((R) -> Void)?
  private var result: R?

  init(_ work: @escaping @Sendable () -> R, _ completion: @escaping (R) -> Void) {
    blocking = work
    self.completion = completion
  }

  /// Performs the blocking work. On a worker thread.
  func work(_ loop: EventLoop) {
    result = blocking?()
    blocking = nil
    loop.run(self)
  }

  /// Performs the completion. On the loop. The worker may still hold this item, so the item must not keep anything that belongs
  /// to the loop.
  override func perform() {
    guard let completion, let result else { return }
    self.completion = nil
    self.result = nil
    completion(result)
  }
}
