import CLinux

/// One thread waits for what another says, once.
package final class DispatchedResult: @unchecked Sendable {
  // Safe: `value` is touched with `mutex` held.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let said = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var value: Bool?

  /// Nothing is said yet.
  package init() {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    said.initialize(to: pthread_cond_t())
    pthread_cond_init(said, nil)
  }

  deinit {
    pthread_cond_destroy(said)
    said.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Says it. From any thread.
  package func set(_ result: Bool) {
    pthread_mutex_lock(mutex)
    value = result
    pthread_cond_signal(said)
    pthread_mutex_unlock(mutex)
  }

  /// What was said, once it is. Blocking.
  package func wait() -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let value { return value }
      pthread_cond_wait(said, mutex)
    }
  }
}
