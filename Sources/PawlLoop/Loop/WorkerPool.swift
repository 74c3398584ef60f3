import CLinux
import DequeModule

/// Threads for calls that may block: disk, name service. Work starts in the order it came; threads are started
/// when first needed.
package final class WorkerPool: @unchecked Sendable {
  // Safe: everything below is touched with `mutex` held, `threadLimit` and `name` are constant.
  private let name: String
  private let threadLimit: Int
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let arrived: UnsafeMutablePointer<pthread_cond_t>
  private var queue = Deque<@Sendable () -> Void>()
  private var threads: [LoopThread] = []
  private var idleCount = 0
  private var isStopping = false

  /// - Parameter name: shows in `top -H`, followed by a number.
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

  /// Performs `work` on a thread of the pool, then `completion` with its result on `loop`, where alone the completion
  /// is let go, too. Call it on that loop.
  /// - Returns: `false` when the pool has stopped: neither is performed.
  @discardableResult
  package func run<R: Sendable>(
    _ work: @escaping @Sendable () -> R, then loop: EventLoop, _ completion: @escaping (R) -> Void
  ) -> Bool {
    loop.preconditionOnLoop()
    let job = Job(work, completion)
    return enqueue { [loop] in job.work(loop) }
  }

  /// Performs `work` on a thread of the pool. From any thread.
  /// - Returns: `false` when the pool has stopped: the work is not performed.
  @discardableResult
  package func run(_ work: @escaping @Sendable () -> Void) -> Bool { enqueue(work) }

  /// Takes no more work, finishes what is queued and returns when the last thread has ended. Not from a thread of the
  /// pool; not on a loop, if completions matter that still come.
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
    // After the mutex is free: a thread that wakes at once would only wait for it.
    if wakesOne { pthread_cond_signal(arrived) }
    return true
  }

  /// With the mutex held. Where the system has no thread left, the threads that run take the work in turn.
  private func startThread() {
    do throws(LoopError) {
      threads.append(try LoopThread(name: "\(name)-\(threads.count)") { [self] in workUntilStopped() })
    } catch {
      // The first thread has no one to fall back to: pawl cannot work without it.
      precondition(!threads.isEmpty, "no thread for \(name): \(error)")
    }
  }

  private func workUntilStopped() {
    pthread_mutex_lock(mutex)
    while true {
      if var work = queue.popFirst() {
        pthread_mutex_unlock(mutex)
        work()
        // Let go of without the mutex: what it held may give the pool work when it goes.
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
  // Safe: one thread at a time: the loop makes it, a worker fills in the result, the mailbox hands it back.
  private var blocking: (@Sendable () -> R)?
  private var completion: ((R) -> Void)?
  private var result: R?

  init(_ work: @escaping @Sendable () -> R, _ completion: @escaping (R) -> Void) {
    blocking = work
    self.completion = completion
  }

  /// On a worker.
  func work(_ loop: EventLoop) {
    result = blocking?()
    blocking = nil
    loop.run(self)
  }

  /// On the loop. The worker may still hold the item: nothing of the loop's stays in it.
  override func perform() {
    guard let completion, let result else { return }
    self.completion = nil
    self.result = nil
    completion(result)
  }
}
