import CLinux

/// A value and the mutex that guards it. (`Synchronization.Mutex` brings in the C library's own module, whose feature
/// macros differ from those of `CLinux`: debug builds then fail.)
///
/// Safe: `value` is touched only while `lock` is held.
final class Locked<Value>: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  init(_ value: Value) {
    self.value = value
    lock = .allocate(capacity: 1)
    lock.initialize(to: pthread_mutex_t())
    pthread_mutex_init(lock, nil)
  }

  deinit {
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  /// Not reentrant.
  func withLock<R>(_ body: (inout Value) -> R) -> R {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return body(&value)
  }
}
