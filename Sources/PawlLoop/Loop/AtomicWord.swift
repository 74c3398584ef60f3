import CLinux

/// A machine word that several threads read and write. Reads have acquire order, writes have release order.
package final class AtomicWord: @unchecked Sendable {
  // Safe: the cell has a stable address, and only atomic instructions read or write it.
  private let cell: UnsafeMutablePointer<UInt>

  package init(_ value: UInt) {
    cell = .allocate(capacity: 1)
    cell.initialize(to: value)
  }

  deinit { cell.deallocate() }

  package func load() -> UInt { pawl_atomic_load(cell) }
  package func store(_ value: UInt) { pawl_atomic_store(cell, value) }
  package func exchange(_ value: UInt) -> UInt { pawl_atomic_exchange(cell, value) }

  /// Adds `value`, wrapping on overflow, and returns the sum.
  package func add(_ value: UInt) -> UInt { pawl_atomic_add(cell, value) }

  /// Stores `value` if the word equals `expected`. Returns the word as it was before, which equals `expected` on success.
  @discardableResult
  package func replace(_ expected: UInt, with value: UInt) -> UInt {
    var found = expected
    _ = pawl_atomic_compare_exchange(cell, &found, value)
    return found
  }
}
