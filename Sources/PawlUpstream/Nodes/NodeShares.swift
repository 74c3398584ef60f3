import PawlHTTP

/// Round robin by weights that spreads each node's turns evenly, as nginx does: of 5, 1 and 1 it makes a a b a c a a. Pure.
struct SmoothTurns: Hashable, Sendable {
  private let weights: [Int]
  private var standing: [Int]

  init(_ weights: [Int]) {
    self.weights = weights
    standing = weights.map { _ in 0 }
  }

  /// The next of these nodes, which are at least one.
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

  /// Those that have waited longest in front.
  func ranked(_ nodes: [Int]) -> [Int] {
    nodes.sorted { (standing[$1], $0) < (standing[$0], $1) }
  }
}

/// Which node a target belongs to: each node draws a number for it, by its weight, and the highest has it (rendezvous hashing). When a
/// node is left out its targets go to those that came next, and no other moves. Pure.
struct TargetHash: Hashable, Sendable {
  private let names: [UInt64]
  private let weights: [Int]

  /// - Parameter names: what tells the nodes apart, wherever they stand in the configuration.
  init(names: [String], weights: [Int]) {
    self.names = names.map { Self.hash(Array($0.utf8)[...]) }
    self.weights = weights
  }

  /// The node that has the target first, then the one that comes next, and so on.
  func ranked(_ nodes: [Int], for target: Bytes) -> [Int] {
    let key = Self.hash(target)
    return nodes.map { ($0, cost($0, key)) }.sorted { $0.1 < $1.1 }.map(\.0)
  }

  /// `-ln(u) / weight` for a `u` drawn evenly from 0 to 1: the lowest of several is that of a node as often as its weight says.
  private func cost(_ node: Int, _ key: UInt64) -> Double {
    let drawn = Double(Self.mixed(key ^ names[node]) >> 11) + 0.5
    return -Self.logarithm(drawn / 0x1p53) / Double(weights[node])
  }

  /// FNV-1a, and mixed, so that what differs in its last byte alone differs everywhere.
  static func hash(_ bytes: Bytes) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return mixed(hash)
  }

  /// The end of splitmix64.
  private static func mixed(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// The natural logarithm of a positive number, to eight digits, without a mathematics library.
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
