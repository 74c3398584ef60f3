import PawlCache
import PawlLoop

/// Ends spans, and decides what becomes of the readers that wait for them.
extension FillCoordinator {
  /// Ends the span, unless the body has readers. A reader that comes later finds that no bytes are on their way.
  /// - Returns: whether the span has ended.
  func endUnlessRead(_ fill: Fill) -> Bool {
    let isEnded = state.withLock { state in
      guard state.readers.isEmpty else { return false }
      state.spans.removeAll { [id = ObjectIdentifier(fill)] in $0.fill == id }
      return true
    }
    if isEnded { releaseIfIdle() }
    return isEnded
  }

  /// Pauses every fill of the body, unless the body has readers.
  func pause(_ why: String) {
    for span in state.withLock({ $0.spans }) { span.loop.run { $0.pauseForGood(why) } }
  }

  func ended(_ fill: Fill) {
    state.withLock { $0.spans.removeAll { [id = ObjectIdentifier(fill)] in $0.fill == id } }
    releaseIfIdle()
  }

  /// Removes the fill's span, because the origin has no ranges after all. The span that the fill had overtaken gets its old end again, and
  /// brings the bytes itself, as it would have without the fill.
  /// - Returns: `false` if the overtaken span has ended.
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
      // The spans between these two cannot be fetched by range either, so the overtaken span brings their bytes, too.
      state.spans[other].end = state.spans[other].wanted
      let span = state.spans[other]
      state.spans.remove(at: own)
      return span
    }
    guard let before else { return false }
    before.loop.run { [end = before.wanted ?? .max] in $0.lengthen(to: end) }
    return true
  }

  /// Notes that the rest cannot be fetched now. The responses of waiting readers are cut off; readers that come later may try again.
  func failed(_ fill: Fill, _ end: BodyEnd) {
    state.withLock {
      $0.spans.removeAll { [id = ObjectIdentifier(fill)] in $0.fill == id }
      $0.failures += 1
      $0.failure = end
    }
    releaseIfIdle()
  }
}
