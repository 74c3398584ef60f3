import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve

/// Ends a fill: with the end of its span, with a failure, or because it is not needed any more.
extension Fill {
  func fetchEnded(_ fetch: OriginFetch, at end: UInt64) {
    if state.ends(.ended(at: end)) { return }
    // The end of a fill that fetched lost bytes again does not show where the body ends.
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
      // There is a hole before the rest, and the origin has no ranges, so neither a range nor a replay can bring the rest. The next request
      // fetches the body anew.
      if fetch.spanStart > body.held.prefix { store.forget(response) }
    }
    switch failure {
    case .changed(let why):
      downloads.services.counters.add(.fillsFailedChanged)
      downloads.events.log(
        .warning, "content-changed",
        ["upstream": route.upstreamName, "body": body.id.hex, "at": "\(fetch.frontier)", "why": why])
      coordinator?.failed(self, failure.end)
      // A continuation that brought no byte proves nothing about the bytes that were held before, so they stay.
      if continuesFrom != fetch.frontier {
        store.forget(response)
        body.fail(.changed(why))
      }
      letGo()
    case .narrower(let why):
      downloads.services.counters.add(.fillsFailedNarrower)
      downloads.events.log(
        .notice, "fill-not-shared",
        ["upstream": route.upstreamName, "body": body.id.hex, "at": "\(fetch.frontier)", "why": why])
      coordinator?.failed(self, failure.end)
      // Other clients have the beginning of this response, which is for one client only from now on. So the body fails.
      if !isSpan { body.fail(.changed(why)) }
      confirm(.othersOnly)
      letGo()
    case .gaveUp:
      giveUp(failure.end)
    }
  }

  /// Ends the fill, so that its waiting readers ask the coordinator again. They then find that the origin has no ranges, and start a
  /// replay.
  private func replayInstead() {
    coordinator?.ended(self)
    confirm(.same)
    letGo()
  }

  func giveUp(_ end: BodyEnd) {
    guard let fetch else { return }
    downloads.services.counters.add(.fillsGaveUp)
    let isLost = state.keeping == .memory(hasWindow: true)
    downloads.events.log(
      .warning, "fill-ended",
      [
        "upstream": route.upstreamName, "body": body.id.hex, "at": "\(fetch.frontier)", "why": end.reason,
        "of": body.total.map { "\($0)" } ?? "-", "target": fetch.request.shown(fetch.base.target).text,
        "request": fetch.request.idText,
        "next": isLost ? "nothing of it is kept" : "what is held stays; the next request fetches the rest",
      ])
    coordinator?.failed(self, end)
    if isLost { body.fail(end.party == .pawl ? .notKept : .origin(end.reason)) }
    letGo()
  }

  /// Returns 0 for a fill that fetches lost bytes again. The held bytes around lost bytes are compared only by their digests.
  func fetchHeldPrefix(_ fetch: OriginFetch) -> UInt64 { mends ? 0 : body.prefixThatCame }

  /// Lost bytes that come again are proven by their digests.
  func fetchJoinsLater(_ fetch: OriginFetch) -> Bool {
    !mends && body.known.intervals.last.map { $0.upperBound > fetch.frontier } ?? false
  }

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
    if downloads.fills.removeValue(forKey: ObjectIdentifier(self)) != nil {
      downloads.services.counters.add(.fillsEnded)
    }
    body.fillPaused()
    body.wakeAll()
    confirm(.changed)
  }
}
