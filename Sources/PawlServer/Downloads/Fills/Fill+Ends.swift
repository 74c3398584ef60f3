import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve

/// How a fill ends: with its span, with what the origin made of it, or for want of anybody who wants it.
extension Fill {
  func fetchEnded(_ fetch: OriginFetch, at end: UInt64) {
    if state.ends(.ended(at: end)) { return }
    // Lost bytes that came again say nothing of where the body ends.
    if body.total == nil, !mends { body.setTotal(end) }
    let isWhole = isStreaming || body.total.map { body.prefixThatCame >= $0 } ?? false
    if isWhole { body.complete() }
    confirm(.same)
    coordinator?.ended(self)
    letGo()
  }

  func fetchFailed(_ fetch: OriginFetch, _ failure: FetchFailure) {
    if state.ends(.failed(failure)) { return }
    if fetch.originRefusesRanges {
      coordinator?.originRefusesRanges()
      if case .span = kind, coordinator?.givesBack(self) == true {
        confirm(.same)
        return letGo()
      }
      if mends, replay == nil, case .gaveUp = failure { return replayInstead() }
      // With a hole before it the rest can be had neither by range nor by replay: who comes next starts anew.
      if fetch.spanStart > body.held.prefix { store.forget(response) }
    }
    switch failure {
    case .changed(let why):
      downloads.events.log(
        .warning, "content-changed",
        ["upstream": route.upstreamName, "body": body.id.hex, "at": "\(fetch.frontier)", "why": why])
      coordinator?.failed(self, failure.end)
      // What another answer says of one who asks anew takes nothing from what was left here.
      if continuesFrom != fetch.frontier {
        store.forget(response)
        body.fail(.changed(why))
      }
      letGo()
    case .narrower(let why):
      downloads.events.log(
        .notice, "fill-not-shared",
        ["upstream": route.upstreamName, "body": body.id.hex, "at": "\(fetch.frontier)", "why": why])
      coordinator?.failed(self, failure.end)
      // Others have the beginning of what was for one of them.
      if !isSpan { body.fail(.changed(why)) }
      confirm(.othersOnly)
      letGo()
    case .gaveUp:
      giveUp(failure.end)
    }
  }

  /// Whoever waits asks again, and finds that no range is to be had.
  private func replayInstead() {
    coordinator?.ended(self)
    confirm(.same)
    letGo()
  }

  func giveUp(_ end: BodyEnd) {
    guard fetch != nil else { return }
    downloads.events.log(
      .warning, "fill-ended",
      ["upstream": route.upstreamName, "body": body.id.hex, "at": "\(fetch?.frontier ?? 0)", "why": end.reason])
    coordinator?.failed(self, end)
    if state.keeping == .memory(hasWindow: true) { body.fail(end.party == .pawl ? .notKept : .origin(end.reason)) }
    letGo()
  }

  /// Around lost bytes what stands in the file is compared by its digests only.
  func fetchHeldPrefix(_ fetch: OriginFetch) -> UInt64 { mends ? 0 : body.prefixThatCame }

  func fetchIsWanted(_ fetch: OriginFetch) -> Bool { hasReaders || state.unread != .never }

  var hasReaders: Bool { coordinator?.hasReaders ?? false }

  func letGo() {
    watch?.cancel()
    paceTimer?.close()
    overtaking?.end()
    fetch?.cancel()
    fetch = nil
    state.letsGo()
    downloads.abandoned.remove(self, of: route.upstream)
    downloads.fills[ObjectIdentifier(self)] = nil
    body.fillPaused()
    body.wakeAll()
    confirm(.changed)
  }
}
