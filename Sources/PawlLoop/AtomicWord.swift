import CLinux

/// A machine word that several threads read and write; reads acquire, writes release.
final class AtomicWord: @unchecked Sendable {
  // Safe: the cell has a stable address and is touched through atomic instructions only.
  private let cell: UnsafeMutablePointer<UInt>

  init(_ value: UInt) {
    cell = .allocate(capacity: 1)
    cell.initialize(to: value)
  }

  deinit { cell.deallocate() }

  func load() -> UInt { pawl_atomic_load(cell) }
  func store(_ value: UInt) { pawl_atomic_store(cell, value) }
  func exchange(_ value: UInt) -> UInt { pawl_atomic_exchange(cell, value) }

  /// Stores `value` where `expected` is found; returns what was found.
  @discardableResult
  func replace(_ expected: UInt, with value: UInt) -> UInt {
    var found = expected
    _ = pawl_atomic_compare_exchange(cell, &found, value)
    return found
  }
}
