import PawlCache
import PawlLoop

/// How spans end, and what becomes of those who waited for them.
extension FillCoordinator {
  /// Ends the span unless somebody reads: who comes after it finds that nothing is on its way.
  func endUnlessRead(_ fill: Fill) -> Bool {
    let isEnded = state.withLock { state in
      guard state.readers.isEmpty else { return false }
      state.spans.removeAll { [id = ObjectIdentifier(fill)] in $0.fill == id }
      return true
    }
    if isEnded { releaseIfIdle() }
    return isEnded
  }

  /// What is on its way is of no use to anybody, unless somebody reads it.
  func pause(_ why: String) {
    for span in state.withLock({ $0.spans }) { span.loop.run { $0.pauseForGood(why) } }
  }

  func ended(_ fill: Fill) {
    state.withLock { $0.spans.removeAll { [id = ObjectIdentifier(fill)] in $0.fill == id } }
    releaseIfIdle()
  }

  /// The origin has no ranges after all: a span that this one has overtaken brings the rest as it would have.
  /// - Returns: `false` where there is none any more.
  func givesBack(_ fill: Fill) -> Bool {
    let before = state.withLock { state -> Span? in
      let id = ObjectIdentifier(fill)
      guard let own = state.spans.firstIndex(where: { $0.fill == id }) else { return nil }
      let start = state.spans[own].start
      let others = state.spans.indices.filter { index in
        let other = state.spans[index]
        return other.fill != id && other.start < start && start < other.wanted ?? .max
      }
      guard let other = others.max(by: { state.spans[$0].start < state.spans[$1].start }) else { return nil }
      // Those in between have no ranges either.
      state.spans[other].end = state.spans[other].wanted
      let span = state.spans[other]
      state.spans.remove(at: own)
      return span
    }
    guard let before else { return false }
    before.loop.run { [end = before.wanted ?? .max] in $0.lengthen(to: end) }
    return true
  }

  /// The rest cannot be had now: whoever waits ends visibly; who comes later may try again.
  func failed(_ fill: Fill, _ end: BodyEnd) {
    state.withLock {
      $0.spans.removeAll { [id = ObjectIdentifier(fill)] in $0.fill == id }
      $0.failures += 1
      $0.failure = end
    }
    releaseIfIdle()
  }
}
