import PawlHTTP
import Testing

@testable import PawlUpstream

@Suite("Shares of nodes") struct NodeSharesTests {
  @Test(
    "turns are spread as nginx spreads them",
    arguments: [
      ([5, 1, 1], [0, 0, 1, 0, 2, 0, 0]), ([1, 1], [0, 1, 0, 1]), ([3, 1], [0, 0, 1, 0]), ([1, 2, 1], [1, 0, 2, 1]),
    ])
  func turns(_ weights: [Int], _ expected: [Int]) {
    var turns = SmoothTurns(weights)
    let all = Array(weights.indices)
    let found = expected.map { _ in turns.next(of: all) }
    #expect(found == expected)
  }

  private func shares(_ hash: TargetHash, _ nodes: [Int], targets: Int = 20_000) -> [Int: Int] {
    (0..<targets).reduce(into: [:]) { shares, target in
      shares[hash.ranked(nodes, for: Bytes("/files/\(target)?v=1"))[0], default: 0] += 1
    }
  }

  @Test(
    "each node has its share of the targets, within a twentieth of it", arguments: [[1, 1, 1], [1, 2, 5], [1, 1000]])
  func distribution(_ weights: [Int]) {
    let hash = TargetHash(names: weights.indices.map { "10.0.0.\($0):80" }, weights: weights)
    let found = shares(hash, Array(weights.indices)), total = weights.reduce(0, +)
    for (node, weight) in weights.enumerated() {
      let due = 20_000 * weight / total
      #expect(
        abs(found[node, default: 0] - due) <= max(due / 20, 20), "\(node) has \(found[node, default: 0]) of \(due)")
    }
  }

  @Test("a node that is left out moves its own share alone, evenly to the others", arguments: [2, 3, 5, 10])
  func removal(_ count: Int) {
    let nodes = Array(0..<count)
    let hash = TargetHash(names: nodes.map { "node-\($0):80" }, weights: nodes.map { _ in 1 })
    var moved = 0
    for target in 0..<5000 {
      let key = Bytes("/\(target)")
      let all = hash.ranked(nodes, for: key), rest = hash.ranked(Array(nodes.dropFirst()), for: key)
      #expect(rest == all.filter { $0 != 0 })
      if all[0] == 0 { moved += 1 }
    }
    #expect(abs(moved - 5000 / count) < 5000 / count / 8 + 20)
  }

  @Test("the place in the configuration counts for nothing")
  func names() {
    let one = TargetHash(names: ["a", "b", "c"], weights: [1, 2, 3])
    let other = TargetHash(names: ["c", "a", "b"], weights: [3, 1, 2])
    let map = [0: 1, 1: 2, 2: 0]
    for target in 0..<200 {
      let key = Bytes("/\(target)")
      #expect(one.ranked([0, 1, 2], for: key).compactMap { map[$0] } == other.ranked([0, 1, 2], for: key))
    }
  }

  @Test(
    "logarithms",
    arguments: [(1.0, 0.0), (0.5, -0.69314718), (2.718281828, 1.0), (1e-9, -20.72326584), (0.999, -0.0010005)])
  func logarithms(_ number: Double, _ expected: Double) {
    #expect(abs(TargetHash.logarithm(number) - expected) < 1e-7)
  }
}
