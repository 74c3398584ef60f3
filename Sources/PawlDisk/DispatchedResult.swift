import CLinux

/// A result that one thread sets once, and for which another thread waits.
package final class DispatchedResult: @unchecked Sendable {
  // Safe: `value` is touched with `mutex` held.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let said = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var value: Bool?

  /// Makes an object without a result.
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

  /// Sets the result. May be called on any thread.
  package func set(_ result: Bool) {
    pthread_mutex_lock(mutex)
    value = result
    pthread_cond_signal(said)
    pthread_mutex_unlock(mutex)
  }

  /// Waits for the result and returns it. Blocking.
  package func wait() -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let value { return value }
      pthread_cond_wait(said, mutex)
    }
  }
}
