import PawlBase

/// How many reloads there were, and whether the last one was applied. Any thread.
package final class ReloadFacts: Sendable {
  private struct State {
    var applied: UInt64 = 0
    var refused: UInt64 = 0
    var hasWorked = true
    /// When a configuration was last applied, at first when pawl started: wall clock, seconds since 1970.
    var at: Int64
  }
  private let state: Locked<State>

  package init(startedAt time: Int64) { state = Locked(State(at: time)) }

  package func note(isApplied: Bool, at time: Int64) {
    state.withLock { state in
      state.hasWorked = isApplied
      if isApplied { (state.applied, state.at) = (state.applied + 1, time) } else { state.refused += 1 }
    }
  }

  package func add(to snapshot: inout MetricsSnapshot) {
    let state = state.withLock { $0 }
    snapshot.add(.reloads, [("result", "applied")], .count(state.applied))
    snapshot.add(.reloads, [("result", "refused")], .count(state.refused))
    snapshot.add(.reloadWorked, .count(state.hasWorked ? 1 : 0))
    snapshot.add(.reloadTime, .count(UInt64(max(0, state.at))))
  }
}
