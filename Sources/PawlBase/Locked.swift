package import CLinux

/// A value that a mutex protects. Hold the lock for a look-up or an update, never during input or output.
package final class Locked<Value>: @unchecked Sendable {
  // Safe: `value` is used only between lock and unlock. Value and mutex are in memory that is allocated outside of the object. If
  // they were properties, Swift would check at run time that access is exclusive; the lock already ensures that.
  @usableFromInline let value: UnsafeMutablePointer<Value>
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init(_ value: Value) {
    let alignment = max(MemoryLayout<Value>.alignment, MemoryLayout<pthread_mutex_t>.alignment)
    let start = (MemoryLayout<pthread_mutex_t>.size + alignment - 1) / alignment * alignment
    let room = UnsafeMutableRawPointer.allocate(byteCount: start + MemoryLayout<Value>.size, alignment: alignment)
    mutex = room.initializeMemory(as: pthread_mutex_t.self, to: pthread_mutex_t())
    self.value = (room + start).initializeMemory(as: Value.self, to: value)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    value.deinitialize(count: 1)
    UnsafeMutableRawPointer(mutex).deallocate()
  }

  /// Calls `body` with the value while the mutex is held. Not reentrant: a second call from `body` never returns.
  @inlinable @inline(__always)
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }
}

/// Sets `value` to `nil` and returns the old value. When the old value is released, its `deinit` may access the same property. So
/// the access to the property has to end before the release.
package func take<Value>(_ value: inout Value?) -> Value? {
  var taken: Value?
  swap(&taken, &value)
  return taken
}
