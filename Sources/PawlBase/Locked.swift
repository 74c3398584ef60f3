package import CLinux

/// A value behind a mutex. Hold it for a look-up or an update, never over IO.
package final class Locked<Value>: @unchecked Sendable {
  // Safe: `value` is touched only between lock and unlock. Memory of its own, one piece for both: an access to a property would be
  // checked at run time for what the lock excludes already.
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

  /// Not reentrant: a second call from within `body` never returns.
  @inlinable @inline(__always)
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }
}

/// Empties `value` and returns what was in it: letting go of that may run code which comes back to the same property.
package func take<Value>(_ value: inout Value?) -> Value? {
  var taken: Value?
  swap(&taken, &value)
  return taken
}
