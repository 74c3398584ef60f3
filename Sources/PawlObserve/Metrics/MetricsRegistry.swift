import PawlBase

/// All counters of the process. They live as long as the process: an upstream that a reload has replaced or removed keeps its
/// counts, because a counter must never go down. Any thread.
package final class MetricsRegistry: Sendable {
  /// The most names of upstreams that are told apart. Further names, which only reloads can bring, share ``others``.
  package static let upstreamLimit = 1000
  package static let others = "(others)"

  private struct State {
    var loops: [LoopCounters] = []
    /// By name, then by the index of the loop.
    var upstreams: [String: [Int: UpstreamCounters]] = [:]
  }
  private let state = Locked(State())

  package init() {}

  /// Adds the counters of a loop that is about to start.
  package func add(_ loop: LoopCounters) { state.withLock { $0.loops.append(loop) } }

  package var loops: [LoopCounters] { state.withLock { $0.loops } }

  /// Returns the counters of one loop for an upstream; the same ones for each call with this name and loop.
  package func counters(ofUpstream name: String, loop: Int) -> UpstreamCounters {
    state.withLock { state in
      let isKnown = state.upstreams[name] != nil || state.upstreams.count < Self.upstreamLimit
      let name = isKnown ? name : Self.others
      if let counters = state.upstreams[name]?[loop] { return counters }
      let counters = UpstreamCounters()
      state.upstreams[name, default: [:]][loop] = counters
      return counters
    }
  }

  /// The counters of all upstreams, ordered by name.
  package var upstreams: [(name: String, loops: [UpstreamCounters])] {
    state.withLock { $0.upstreams.map { ($0.key, Array($0.value.values)) } }.sorted { $0.0 < $1.0 }
  }
}
