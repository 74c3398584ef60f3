import PawlHTTP

/// Weighted round robin that spreads each node's turns evenly, as nginx does: nodes a, b and c with the weights 5, 1 and 1 get
/// turns in the order a a b a c a a. Pure.
struct SmoothTurns: Hashable, Sendable {
  private let weights: [Int]
  private var standing: [Int]

  init(_ weights: [Int]) {
    self.weights = weights
    standing = weights.map { _ in 0 }
  }

  /// Returns the next of these nodes; there must be at least one.
  mutating func next(of nodes: [Int]) -> Int {
    var best = nodes[0], total = 0
    for node in nodes {
      standing[node] += weights[node]
      total += weights[node]
      if standing[node] > standing[best] { best = node }
    }
    standing[best] -= total
    return best
  }

  /// Returns the nodes in order: the node that has waited longest for a turn comes first.
  func ranked(_ nodes: [Int]) -> [Int] {
    nodes.sorted { (standing[$1], $0) < (standing[$0], $1) }
  }
}

/// Consistent hashing of targets to nodes: weighted rendezvous hashing, a target goes to the node with the lowest `cost`. If a node
/// does not work, only its targets move, each to the node with the next lowest cost. Pure.
struct TargetHash: Hashable, Sendable {
  private let names: [UInt64]
  private let weights: [Int]

  /// - Parameter names: unique names of the nodes, which do not depend on their order in the configuration.
  init(names: [String], weights: [Int]) {
    self.names = names.map { Self.hash(Array($0.utf8)[...]) }
    self.weights = weights
  }

  /// Returns the nodes in the order of their costs. The node that the target belongs to is first.
  func ranked(_ nodes: [Int], for target: Bytes) -> [Int] {
    let key = Self.hash(target)
    return nodes.map { ($0, cost($0, key)) }.sorted { $0.1 < $1.1 }.map(\.0)
  }

  /// Returns `-ln(u) / weight`, with a `u` that is evenly distributed from 0 to 1. So the number of targets for which a node has
  /// the lowest cost is proportional to its weight.
  private func cost(_ node: Int, _ key: UInt64) -> Double {
    let drawn = Double(Self.mixed(key ^ names[node]) >> 11) + 0.5
    return -Self.logarithm(drawn / 0x1p53) / Double(weights[node])
  }

  /// Returns the FNV-1a hash, mixed so that inputs that differ only in the last byte get very different hashes.
  static func hash(_ bytes: Bytes) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return mixed(hash)
  }

  /// Mixes the bits of a number, as the end of splitmix64 does.
  private static func mixed(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Returns the natural logarithm of a positive number, to eight digits, without a mathematics library.
  static func logarithm(_ number: Double) -> Double {
    let part = (number.significand - 1) / (number.significand + 1)
    var (sum, power) = (0.0, part)
    for odd in stride(from: 1.0, through: 15, by: 2) {
      sum += power / odd
      power *= part * part
    }
    return Double(number.exponent) * 0.693147180559945309 + 2 * sum
  }
}
