import PawlBase
import PawlLoop

/// The limits of a store on disk: at most `max-size` bytes in the store, and at least `min-free` bytes free on the file system.
/// Space is reserved before bytes come, so that a burst cannot exceed the limits.
package final class DiskBudget: Sendable {
  private struct State {
    var maxSize: UInt64
    var minFree: UInt64
    /// Bytes on disk, with ``objectOverhead`` for each object.
    var used: UInt64 = 0
    /// Bytes that are reserved and not written yet.
    var reserved: UInt64 = 0
    /// Bytes free on the file system at the last check; `nil`: not checked yet.
    var free: UInt64?
    /// Bytes reserved or written since the last check of the file system.
    var granted: UInt64 = 0
  }

  /// The most bytes that the store may occupy.
  package var maxSize: UInt64 { state.withLock { $0.maxSize } }
  /// The bytes that the store leaves free on the file system.
  package var minFree: UInt64 { state.withLock { $0.minFree } }
  private let state: Locked<State>

  /// Bytes for each object besides its content: its rows, and the unused rest of its last block.
  package static let objectOverhead: UInt64 = 4096

  /// Makes a budget of which nothing is used.
  package init(maxSize: UInt64, minFree: UInt64) {
    state = Locked(State(maxSize: maxSize, minFree: minFree))
  }

  /// Uses other limits from now on. If more than that is used already, nothing can be reserved until space was freed.
  package func setLimits(maxSize: UInt64, minFree: UInt64) {
    state.withLock { ($0.maxSize, $0.minFree) = (maxSize, minFree) }
  }

  /// Bytes on disk, with ``objectOverhead`` for each object.
  package var used: UInt64 { state.withLock { $0.used } }
  /// Bytes that are reserved and not written yet.
  package var reserved: UInt64 { state.withLock { $0.reserved } }

  /// Bytes free on the file system at the last check; `nil`: not checked yet.
  package var free: UInt64? { state.withLock { $0.free } }

  /// Reserves `bytes` bytes, or nothing. `false`: there is not enough space. This does not evict anything.
  package func reserve(_ bytes: UInt64) -> Bool {
    state.withLock { state in
      guard Self.shortfall(state, bytes) == 0 else { return false }
      state.reserved += bytes
      state.granted += bytes
      return true
    }
  }

  /// Reserves `bytes` bytes or, if there is less space than that, all the space there is. Returns the reserved number.
  package func reserve(upTo bytes: UInt64) -> UInt64 {
    state.withLock { state in
      let granted = bytes - min(bytes, Self.shortfall(state, bytes))
      state.reserved += granted
      state.granted += granted
      return granted
    }
  }

  /// Returns how many bytes have to be evicted before `bytes` can be reserved; `nil`: there would not be enough space even if
  /// everything were evicted.
  package func shortfall(_ bytes: UInt64) -> UInt64? {
    state.withLock { state in
      let missing = Self.shortfall(state, bytes)
      return missing > state.used ? nil : missing
    }
  }

  private static func shortfall(_ state: State, _ bytes: UInt64) -> UInt64 {
    let wanted = saturatingSum(saturatingSum(state.used, state.reserved), bytes)
    let overSize = wanted > state.maxSize ? wanted - state.maxSize : 0
    guard let free = state.free else { return overSize }
    let needed = saturatingSum(saturatingSum(state.granted, bytes), state.minFree)
    return max(overSize, needed > free ? needed - free : 0)
  }

  /// Counts reserved bytes as written.
  package func convert(_ bytes: UInt64) {
    state.withLock { state in
      state.reserved -= min(bytes, state.reserved)
      state.used += bytes
    }
  }

  /// Gives back reserved bytes that were not written.
  package func release(_ bytes: UInt64) {
    state.withLock { state in
      state.reserved -= min(bytes, state.reserved)
      state.granted -= min(bytes, state.granted)
    }
  }

  /// Counts bytes that are on disk already.
  package func charge(_ bytes: UInt64) { state.withLock { $0.used += bytes } }

  /// Counts bytes that were just written without a reservation. They reduce the space that was free at the last check.
  package func chargeWritten(_ bytes: UInt64) {
    state.withLock { state in
      state.used += bytes
      state.granted += bytes
    }
  }

  /// Counts bytes that were removed from the disk.
  package func uncharge(_ bytes: UInt64) {
    state.withLock { state in
      state.used -= min(bytes, state.used)
      let granted = min(bytes, state.granted)
      state.granted -= granted
      // Without this, bytes would be evicted again and again for the same shortfall, until the next check of the file system.
      state.free = state.free.map { Self.saturatingSum($0, bytes - granted) }
    }
  }

  /// Sets the free bytes of the file system, as just read. Reserved bytes that are not written yet will still use up some of the
  /// free bytes.
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

/// The part of a budget that one file occupies. If the file was dropped (``drop()``), its bytes are given back when this object
/// is deallocated, after the last descriptor of the file is closed.
package final class DiskCharge: Sendable {
  private struct State {
    var bytes: UInt64
    var isDropped = false
  }
  private let budget: DiskBudget
  private let state: Locked<State>

  /// - Parameter bytes: bytes that the budget counts already.
  package init(_ budget: DiskBudget, bytes: UInt64) { (self.budget, state) = (budget, Locked(State(bytes: bytes))) }

  deinit {
    let bytes = state.withLock { $0.isDropped ? $0.bytes : 0 }
    if bytes > 0 { budget.uncharge(bytes) }
  }

  /// Counts reserved bytes of the budget as written to this file.
  package func grow(_ bytes: UInt64) {
    budget.convert(bytes)
    state.withLock { $0.bytes += bytes }
  }

  /// Counts bytes of the file that were on disk already, but were not counted yet.
  package func add(_ bytes: UInt64) {
    budget.charge(bytes)
    state.withLock { $0.bytes += bytes }
  }

  /// Gives back this number of the file's bytes, or all of them if the file has fewer.
  package func shrink(_ bytes: UInt64) {
    let freed = state.withLock { state in
      let freed = min(bytes, state.bytes)
      state.bytes -= freed
      return freed
    }
    budget.uncharge(freed)
  }

  /// Gives back all bytes at once.
  package func release() {
    let freed = state.withLock { state in
      defer { state.bytes = 0 }
      return state.bytes
    }
    budget.uncharge(freed)
  }

  /// Notes that the file is unlinked, or soon will be.
  package func drop() { state.withLock { $0.isDropped = true } }
}
