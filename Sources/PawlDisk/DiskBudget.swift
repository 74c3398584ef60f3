import PawlBase
import PawlLoop

/// What a store may occupy: `max-size` for all it holds, `min-free` left on the file system. Room is reserved before
/// bytes come, so a burst cannot pass the limits.
package final class DiskBudget: Sendable {
  private struct State {
    /// Bytes on disk, with ``objectOverhead`` for each object.
    var used: UInt64 = 0
    /// Promised to fills, not written yet.
    var reserved: UInt64 = 0
    /// Free on the file system when last asked; `nil` before.
    var free: UInt64?
    /// Promised or written since then.
    var granted: UInt64 = 0
  }

  /// The most bytes that all of it may occupy.
  package let maxSize: UInt64
  /// The bytes that are left free on the file system.
  package let minFree: UInt64
  private let state = Locked(State())

  /// What an object costs besides its bytes: its rows and the unused rest of its last block.
  package static let objectOverhead: UInt64 = 4096

  /// A budget of which nothing is used.
  package init(maxSize: UInt64, minFree: UInt64) { (self.maxSize, self.minFree) = (maxSize, minFree) }

  /// Bytes on disk, with ``objectOverhead`` for each object.
  package var used: UInt64 { state.withLock { $0.used } }
  /// Bytes that are promised and not written yet.
  package var reserved: UInt64 { state.withLock { $0.reserved } }

  /// Promises room where there is some; makes none.
  package func reserve(_ bytes: UInt64) -> Bool {
    state.withLock { state in
      guard Self.shortfall(state, self, bytes) == 0 else { return false }
      state.reserved += bytes
      state.granted += bytes
      return true
    }
  }

  /// Promises as much of `bytes` as there is room for, and says how much that is.
  package func reserve(upTo bytes: UInt64) -> UInt64 {
    state.withLock { state in
      let granted = bytes - min(bytes, Self.shortfall(state, self, bytes))
      state.reserved += granted
      state.granted += granted
      return granted
    }
  }

  /// Bytes that must go before so many can be reserved; `nil` when no eviction would do.
  package func shortfall(_ bytes: UInt64) -> UInt64? {
    state.withLock { state in
      let missing = Self.shortfall(state, self, bytes)
      return missing > state.used ? nil : missing
    }
  }

  private static func shortfall(_ state: State, _ budget: DiskBudget, _ bytes: UInt64) -> UInt64 {
    let wanted = saturatingSum(saturatingSum(state.used, state.reserved), bytes)
    let overSize = wanted > budget.maxSize ? wanted - budget.maxSize : 0
    guard let free = state.free else { return overSize }
    let needed = saturatingSum(saturatingSum(state.granted, bytes), budget.minFree)
    return max(overSize, needed > free ? needed - free : 0)
  }

  /// Reserved bytes were written.
  package func convert(_ bytes: UInt64) {
    state.withLock { state in
      state.reserved -= min(bytes, state.reserved)
      state.used += bytes
    }
  }

  /// Gives back what was reserved and not written.
  package func release(_ bytes: UInt64) {
    state.withLock { state in
      state.reserved -= min(bytes, state.reserved)
      state.granted -= min(bytes, state.granted)
    }
  }

  /// Counts what stands on disk already.
  package func charge(_ bytes: UInt64) { state.withLock { $0.used += bytes } }

  /// Counts bytes that were written just now and were not reserved: what was last known to be free is less by them.
  package func chargeWritten(_ bytes: UInt64) {
    state.withLock { state in
      state.used += bytes
      state.granted += bytes
    }
  }

  /// Bytes left the disk.
  package func uncharge(_ bytes: UInt64) {
    state.withLock { state in
      state.used -= min(bytes, state.used)
      let granted = min(bytes, state.granted)
      state.granted -= granted
      // Else room would be made for the same bytes until the file system is asked again.
      state.free = state.free.map { Self.saturatingSum($0, bytes - granted) }
    }
  }

  /// What the file system said just now. What is reserved and not written yet is still to come out of it.
  package func noteFree(_ bytes: UInt64) {
    state.withLock { state in
      state.free = bytes
      state.granted = state.reserved
    }
  }

  private static func saturatingSum(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? .max : sum
  }
}

/// What one file occupies. When its object is dropped, the bytes are free once the last descriptor is closed, too.
package final class DiskCharge: Sendable {
  private struct State {
    var bytes: UInt64
    var isDropped = false
  }
  private let budget: DiskBudget
  private let state: Locked<State>

  /// - Parameter bytes: charged already.
  package init(_ budget: DiskBudget, bytes: UInt64) { (self.budget, state) = (budget, Locked(State(bytes: bytes))) }

  deinit {
    let bytes = state.withLock { $0.isDropped ? $0.bytes : 0 }
    if bytes > 0 { budget.uncharge(bytes) }
  }

  /// Reserved bytes of the budget became bytes of this file.
  package func grow(_ bytes: UInt64) {
    budget.convert(bytes)
    state.withLock { $0.bytes += bytes }
  }

  /// More stands on disk than was known.
  package func add(_ bytes: UInt64) {
    budget.charge(bytes)
    state.withLock { $0.bytes += bytes }
  }

  /// So many bytes of the file are gone; no more than it has.
  package func shrink(_ bytes: UInt64) {
    let freed = state.withLock { state in
      let freed = min(bytes, state.bytes)
      state.bytes -= freed
      return freed
    }
    budget.uncharge(freed)
  }

  /// The file is gone, and nobody has it open.
  package func release() {
    let freed = state.withLock { state in
      defer { state.bytes = 0 }
      return state.bytes
    }
    budget.uncharge(freed)
  }

  /// The file is unlinked, or will be.
  package func drop() { state.withLock { $0.isDropped = true } }
}
