package import PawlLoop

/// In which order the URLs of an upstream are tried: round robin over those that work; one that refused is left out
/// for a while that grows with every refusal, and stays the last resort while it is.
package struct URLRotation: Hashable, Sendable {
  private struct Health: Hashable { var failures = 0, skippedUntil: Monotonic? }
  private var health: [Health]
  private var next = 0

  package init(count: Int) { health = Array(repeating: Health(), count: count) }

  /// Indices of all URLs, the one to try first in front. Moves the rotation on.
  /// - Parameter preferred: stands in front where it works, and the rotation stays.
  package mutating func order(at now: Monotonic, preferring preferred: Int? = nil) -> [Int] {
    guard health.count > 1 else { return [0] }
    if let preferred, health.indices.contains(preferred), !isSkipped(preferred, at: now) {
      let turn = next
      defer { next = turn }
      return [preferred] + order(at: now).filter { $0 != preferred }
    }
    let turn = health.indices.map { (next + $0) % health.count }
    let working = turn.filter { !isSkipped($0, at: now) }
    next = ((working.first ?? next) + 1) % health.count
    guard working.count < health.count else { return working }
    let skipped = turn.filter { isSkipped($0, at: now) }
    return working + skipped.sorted { skippedUntil($0) < skippedUntil($1) }
  }

  package mutating func connected(_ index: Int) { health[index] = Health() }

  package mutating func failed(_ index: Int, at now: Monotonic) {
    // Others may have failed in the same moment: a burst of refusals is one refusal.
    guard !isSkipped(index, at: now) else { return }
    health[index].failures += 1
    health[index].skippedUntil = now.advanced(by: Self.pause(failures: health[index].failures))
  }

  /// 1 s, 2 s, 4 s … 32 s.
  package static func pause(failures: Int) -> Duration { .seconds(1 << min(max(failures - 1, 0), 5)) }

  private func skippedUntil(_ index: Int) -> Monotonic { health[index].skippedUntil ?? Monotonic(nanoseconds: 0) }
  private func isSkipped(_ index: Int, at now: Monotonic) -> Bool { now < skippedUntil(index) }
}
