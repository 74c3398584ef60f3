import PawlBase
import PawlLoop

/// Small complete bodies kept in memory, within `memory` bytes: a clock hand takes those not used since it last passed.
final class MemoryBodies: Sendable {
  private struct Entry {
    weak var body: StoredBody?
    let identifier: ObjectIdentifier
    let size: UInt64
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
    // Let go of after the lock: the last to have a body would come back here.
    var met: [StoredBody] = []
    defer { withExtendedLifetime(met) {} }
    state.withLock { state in
      // Two rounds clear every mark; what is left then goes without asking.
      var patience = 2 * state.entries.count
      while state.bytes + size > limit, !state.entries.isEmpty {
        if state.hand >= state.entries.count { state.hand = 0 }
        let entry = state.entries[state.hand]
        patience -= 1
        let body = entry.body
        if let body { met.append(body) }
        if let body, !body.leaveMemory(unlessUsed: patience > 0) {
          state.hand += 1
        } else {
          Self.take(&state, at: state.hand)
        }
      }
      state.places[ObjectIdentifier(body)] = state.entries.count
      state.entries.append(Entry(body: body, identifier: ObjectIdentifier(body), size: size))
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
