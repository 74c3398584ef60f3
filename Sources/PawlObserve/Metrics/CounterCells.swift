import CLinux

/// Counters that one thread writes and any thread reads. Writing is one plain addition: no lock, no atomic read-modify-write, no
/// allocation. The cells fill cache lines of their own, so that threads that count at the same time do not slow each other down.
package final class CounterCells: @unchecked Sendable {
  // Safe: the cells have a stable address; one thread writes them, and every access is atomic.
  @usableFromInline let cells: UnsafeMutablePointer<UInt>
  package let count: Int

  /// Two cache lines: processors fetch them in pairs.
  private static let alignment = 128

  package init(count: Int) {
    let bytes = (count * MemoryLayout<UInt>.stride + Self.alignment - 1) / Self.alignment * Self.alignment
    let room = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: Self.alignment)
    cells = room.initializeMemory(as: UInt.self, repeating: 0, count: bytes / MemoryLayout<UInt>.stride)
    self.count = count
  }

  deinit { cells.deallocate() }

  /// Adds to a counter. On the thread that owns the cells.
  @inlinable @inline(__always)
  package func add(_ index: Int, _ amount: UInt) { pawl_counter_add(cells + index, amount) }

  /// Sets a value that may also go down. On the thread that owns the cells.
  @inlinable @inline(__always)
  package func store(_ index: Int, _ value: UInt) { pawl_counter_store(cells + index, value) }

  /// Returns the present value. Any thread.
  @inlinable
  package func load(_ index: Int) -> UInt { pawl_counter_load(cells + index) }
}
