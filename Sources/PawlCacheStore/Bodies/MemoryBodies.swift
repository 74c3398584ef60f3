import PawlBase
import PawlLoop

/// Small complete bodies kept in memory, within `memory` bytes: a clock hand takes those not used since it last passed.
final class MemoryBodies: Sendable {
  private struct Entry {
    // Safe: a body that goes takes its entry out first, and waits for the lock to do so; within the lock nobody retains it.
    let body: Unmanaged<StoredBody>
    let size: UInt64

    var identifier: ObjectIdentifier { body._withUnsafeGuaranteedRef { ObjectIdentifier($0) } }
  }
  private struct State {
    var entries: [Entry] = []
    /// Where each stands.
    var places: [ObjectIdentifier: Int] = [:]
    var hand = 0
    var bytes: UInt64 = 0
  }
  private let limit: UInt64
  private let state = Locked(State())

  init(limit: UInt64) { self.limit = limit }

  var bytes: UInt64 { state.withLock { $0.bytes } }

  /// Makes room for a body of `size` bytes and counts it; `false` when it is larger than all the memory there is.
  /// Not with a body's lock held.
  func admit(_ body: StoredBody, size: UInt64) -> Bool {
    guard size <= limit else { return false }
    body.state.withLock { $0.wasAdmitted = true }
    state.withLock { state in
      if let place = state.places[ObjectIdentifier(body)] { Self.take(&state, at: place) }
      // Two rounds clear every mark; what is left then goes without asking.
      var patience = 2 * state.entries.count
      while state.bytes + size > limit, !state.entries.isEmpty {
        if state.hand >= state.entries.count { state.hand = 0 }
        let entry = state.entries[state.hand]
        patience -= 1
        let isGone = entry.body._withUnsafeGuaranteedRef { $0.leaveMemory(unlessUsed: patience > 0) }
        if isGone { Self.take(&state, at: state.hand) } else { state.hand += 1 }
      }
      state.places[ObjectIdentifier(body)] = state.entries.count
      state.entries.append(Entry(body: Unmanaged.passUnretained(body), size: size))
      state.bytes += size
    }
    return true
  }

  /// The body is gone, or does not want to be here any more.
  func remove(_ identifier: ObjectIdentifier) {
    state.withLock { state in
      if let place = state.places[identifier] { Self.take(&state, at: place) }
    }
  }

  private static func take(_ state: inout State, at index: Int) {
    let (gone, end) = (state.entries[index], state.entries.count - 1)
    if state.places[gone.identifier] == index { state.places[gone.identifier] = nil }
    if index < end {
      let moved = state.entries[end]
      state.entries[index] = moved
      if state.places[moved.identifier] == end { state.places[moved.identifier] = index }
    }
    state.entries.removeLast()
    state.bytes -= gone.size
  }
}
