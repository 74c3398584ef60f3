import PawlBase
import PawlLoop

/// The small complete bodies that are kept in memory, within the `memory` setting of the cache. When space is needed, a clock
/// hand (the CLOCK algorithm) goes round the list, and removes each body that was not used since the hand last passed it.
final class MemoryBodies: Sendable {
  private struct Entry {
    // Safe: the `deinit` of a body first removes the body's entry under the lock, so the body of an entry exists. While the lock
    // is held, no body is retained.
    let body: Unmanaged<StoredBody>
    let size: UInt64

    var identifier: ObjectIdentifier { body._withUnsafeGuaranteedRef { ObjectIdentifier($0) } }
  }
  private struct State {
    var entries: [Entry] = []
    /// The index of each body in `entries`.
    var places: [ObjectIdentifier: Int] = [:]
    var hand = 0
    var bytes: UInt64 = 0
  }
  private let limitInUse: AtomicWord
  private let state = Locked(State())

  /// How many bodies are removed at a time after the limit was lowered.
  static let step = 64

  init(limit: UInt64) { limitInUse = AtomicWord(UInt(limit)) }

  /// The most bytes of all bodies together.
  var limit: UInt64 { UInt64(limitInUse.load()) }

  /// Uses another limit from now on. After this ``trim()`` removes what is too much.
  func setLimit(_ limit: UInt64) { limitInUse.store(UInt(limit)) }

  /// Removes bodies until the limit is kept, a few at a time, so that loops do not wait for the lock. In the pool.
  func trim() {
    while state.withLock({ state in
      let limit = limit
      var left = Self.step
      while left > 0, state.bytes > limit, !state.entries.isEmpty {
        left -= 1
        if state.hand >= state.entries.count { state.hand = 0 }
        _ = state.entries[state.hand].body._withUnsafeGuaranteedRef { $0.leaveMemory(unlessUsed: false) }
        Self.take(&state, at: state.hand)
      }
      return state.bytes > limit && !state.entries.isEmpty
    }) {}
  }

  var bytes: UInt64 { state.withLock { $0.bytes } }

  /// Frees memory for a body of `size` bytes, if necessary, and adds the body. Must not be called with a body's lock held.
  /// - Returns: `false` if the body is larger than the limit, or if ``trim()`` has not ended yet.
  func admit(_ body: StoredBody, size: UInt64) -> Bool {
    let limit = limit
    guard size <= limit, bytes <= limit else { return false }
    body.state.withLock { $0.wasAdmitted = true }
    state.withLock { state in
      if let place = state.places[ObjectIdentifier(body)] { Self.take(&state, at: place) }
      // After two rounds, bodies are removed even if they were used.
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

  /// Removes a body that is being freed, or whose bytes are loaded again.
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
