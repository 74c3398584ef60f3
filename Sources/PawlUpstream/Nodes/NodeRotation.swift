package import PawlHTTP
package import PawlLoop

/// What the operator is told of a node: it works; rests after a failure; fails its health checks; or failed when it was asked last,
/// and may be asked again.
package enum NodeState: String, Hashable, Sendable {
  case works, rests, failed
  case failsChecks = "fails-checks"
}

/// Decides in which order the nodes of an upstream are tried: first those that work, in the order of the balance; then the backups;
/// last the resting nodes. Pure; shared by all loops under one lock.
package struct NodeRotation: Hashable, Sendable {
  /// A change of the health of a node, for the log.
  package enum Change: Hashable, Sendable { case down, up }

  /// The groups of nodes, in the order in which they are tried.
  private enum Rank: Int, CaseIterable { case works, backup, failsChecks, backupFailsChecks, rests }

  private let settings: NodeSettings
  private let nodes: [NodeName]
  private let areBackups: [Bool]
  private let weights: [Int]
  private let targets: TargetHash
  private var turns: SmoothTurns
  private var health: [NodeHealth]
  /// The number of running requests at each node; counted only for the balance `leastConnections`.
  private var running: [Int]

  package init(_ urls: [UpstreamURL], _ settings: NodeSettings = NodeSettings()) {
    self.settings = settings
    nodes = urls.map(NodeName.init)
    areBackups = urls.map(\.isBackup)
    weights = urls.map(\.weight)
    targets = TargetHash(names: urls.map(\.name), weights: weights)
    turns = SmoothTurns(weights)
    health = urls.map { _ in NodeHealth() }
    running = urls.map { _ in 0 }
  }

  /// Takes over the health of the nodes that were in another rotation, too.
  package mutating func adopt(_ other: NodeRotation) {
    let isChecked = settings.check != nil && other.settings.check != nil
    for (index, node) in nodes.enumerated() {
      guard let old = other.nodes.firstIndex(of: node) else { continue }
      health[index] = other.health[old].carried(isChecked: isChecked)
    }
  }

  /// What makes a node the same over a reload: where it is, and whether TLS leads there.
  private struct NodeName: Hashable {
    let name: String
    let isTLS: Bool

    init(_ url: UpstreamURL) { (name, isTLS) = (url.name, url.serverName != nil) }
  }

  // MARK: - The choice

  /// Returns the indices of all nodes in the order in which to try them. Advances the rotation.
  /// - Parameters:
  ///   - target: path and query.
  ///   - preferred: the index of a node that comes first if it works; the rotation is not advanced then.
  package mutating func order(at now: Monotonic, for target: Bytes = [], preferring preferred: Int? = nil) -> [Int] {
    guard health.count > 1 else { return [0] }
    if let preferred, health.indices.contains(preferred), works(preferred, at: now) {
      let turns = turns
      defer { self.turns = turns }
      return [preferred] + ranked(at: now, for: target).filter { $0 != preferred }
    }
    let order = ranked(at: now, for: target)
    health[order[0]].isAsked(at: now, maxRest: settings.maxRest)
    return order
  }

  private mutating func ranked(at now: Monotonic, for target: Bytes) -> [Int] {
    var order: [Int] = []
    for rank in Rank.allCases {
      let nodes = health.indices.filter { self.rank($0, at: now) == rank }
      guard !nodes.isEmpty else { continue }
      order += rank == .rests ? bySoonest(nodes, at: now) : balanced(nodes, for: target, isTurn: order.isEmpty)
    }
    return order
  }

  /// Counts a request that begins at the node.
  package mutating func begins(at node: Int) { running[node] += 1 }
  package mutating func ended(at node: Int) { running[node] -= 1 }

  /// Whether a request that was chosen for `node` may go to `other` instead, which has an idle connection.
  package func mayStandIn(_ other: Int, for node: Int, at now: Monotonic) -> Bool {
    settings.balance != .hash && works(other, at: now) && areBackups[other] == areBackups[node]
  }

  private func rank(_ node: Int, at now: Monotonic) -> Rank {
    switch health[node].rest(at: now) {
    case .none: areBackups[node] ? .backup : .works
    case .failsChecks: areBackups[node] ? .backupFailsChecks : .failsChecks
    case .until: .rests
    }
  }

  /// Returns the state of each node, in the order of their URLs. A single node never rests.
  package func states(at now: Monotonic) -> [NodeState] {
    health.map { node in
      switch node.rest(at: now) {
      case .failsChecks: .failsChecks
      case .until where health.count > 1: .rests
      case .none, .until: node.isWell ? .works : .failed
      }
    }
  }

  /// Whether the node has not failed since it last worked, and does not fail its health checks.
  package func isWell(_ node: Int) -> Bool { health[node].isWell }

  private func works(_ node: Int, at now: Monotonic) -> Bool { health[node].rest(at: now) == .none }

  /// - Parameter isTurn: whether one of these nodes gets the request, so that the rotation advances.
  private mutating func balanced(_ nodes: [Int], for target: Bytes, isTurn: Bool) -> [Int] {
    switch settings.balance {
    case .hash: return targets.ranked(nodes, for: target)
    case .roundRobin: return isTurn ? withTurn(of: nodes, among: nodes) : turns.ranked(nodes)
    case .leastConnections:
      let load = nodes.map { Double(running[$0]) / Double(weights[$0]) }
      let least = load.min() ?? 0
      let byLoad = zip(nodes, load).sorted { $0.1 < $1.1 }.map(\.0)
      return isTurn ? withTurn(of: zip(nodes, load).filter { $0.1 == least }.map(\.0), among: byLoad) : byLoad
    }
  }

  private mutating func withTurn(of candidates: [Int], among nodes: [Int]) -> [Int] {
    let first = turns.next(of: candidates)
    let rest = nodes.filter { $0 != first }
    return [first] + (settings.balance == .roundRobin ? turns.ranked(rest) : rest)
  }

  private func bySoonest(_ nodes: [Int], at now: Monotonic) -> [Int] {
    let ends = nodes.map { node in
      guard case .until(let end) = health[node].rest(at: now) else { return now }
      return end
    }
    return zip(nodes, ends).sorted { $0.1 < $1.1 }.map(\.0)
  }

  // MARK: - Results

  /// Notes that the node refused a connection, did not respond in time, or failed the TLS handshake.
  package mutating func failed(_ node: Int, at now: Monotonic) -> Change? {
    change(of: node) { [settings] in $0.failed(at: now, maxRest: settings.maxRest) }
  }

  /// Notes that the node responded with this status.
  /// - Parameter begun: when the request began.
  package mutating func answered(
    _ node: Int, status: Int, to target: Bytes, since begun: Monotonic, at now: Monotonic
  ) -> Change? {
    switch status {
    case 500, 502, 503, 504:
      if addsError(node, for: target), isAnotherWorking(than: node, at: now) { return failed(node, at: now) }
      return change(of: node) { $0.wasReached(since: begun) }
    default: return change(of: node) { $0.worked(since: begun) }
    }
  }

  /// Notes that the node closed the connection before a response.
  package mutating func erred(_ node: Int, for target: Bytes, at now: Monotonic) -> Change? {
    addsError(node, for: target) && isAnotherWorking(than: node, at: now) ? failed(node, at: now) : nil
  }

  /// Counts an error of the node.
  /// - Returns: whether there are too many in a row.
  private mutating func addsError(_ node: Int, for target: Bytes) -> Bool {
    let path = TargetHash.hash(target.prefix { $0 != UInt8(ascii: "?") })
    return health[node].erred(for: path, limit: settings.restAfterErrors)
  }

  /// Whether there would be a better node. The last node that works does not rest after too many errors.
  private func isAnotherWorking(than node: Int, at now: Monotonic) -> Bool {
    health.indices.contains { $0 != node && works($0, at: now) }
  }

  /// Notes the result of a health check.
  package mutating func checked(_ node: Int, passed: Bool) -> Change? {
    change(of: node) { [settings] in $0.checked(passed: passed, fall: settings.checkFall, rise: settings.checkRise) }
  }

  /// Changes the health of a node.
  /// - Returns: `.down` when it stops working and `.up` when it works again, for the log; `nil` if neither has changed.
  private mutating func change(of node: Int, _ change: (inout NodeHealth) -> Void) -> Change? {
    let wasWell = health[node].isWell
    change(&health[node])
    guard health[node].isWell != wasWell else { return nil }
    return wasWell ? .down : .up
  }
}
