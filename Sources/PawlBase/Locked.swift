package import CLinux

/// A value that a mutex protects. Hold the lock for a look-up or an update, never during input or output.
package final class Locked<Value>: @unchecked Sendable {
  // Safe: `value` is used only between lock and unlock. Value and mutex share a piece of memory outside of the object: for a
  // property, Swift would check exclusive access at run time, which the lock ensures already.
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

/// Sets `value` to `nil` and returns what it held. Releasing that object may run code that accesses the same property; this way
/// the access to the property is over by then.
package func take<Value>(_ value: inout Value?) -> Value? {
  var taken: Value?
  swap(&taken, &value)
  return taken
}
