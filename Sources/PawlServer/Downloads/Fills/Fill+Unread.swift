import PawlCache
import PawlLoop
import PawlObserve

/// Handles readers that do not keep up, or have left: how far the fill goes on without them, and when it waits for them.
extension Fill {
  func watchSlowReaders() {
    let overtaking = overtaking ?? Overtaking()
    self.overtaking = overtaking
    overtaking.begin(self)
  }

  /// Ends the fill, because all readers were overtaken and go on with requests of their own.
  func endUnread() {
    guard let fetch, !state.isWriting else { return }
    downloads.events.log(
      .info, "fill-paused",
      ["upstream": route.upstreamName, "body": body.id.hex, "at": "\(fetch.frontier)", "why": "readers-overtaken"])
    coordinator?.ended(self)
    letGo()
  }

  /// Stops a fill that has no readers and has brought as much as it may bring without them.
  func endIfEnough(_ frontier: UInt64) {
    guard let allowance = state.allowance else { return }
    if hasReaders { return state.unread = .goesOn }
    if allowance.isEnough(frontier) { pauseForGood("abandoned-fill") }
  }

  func watchPace() {
    let timer = paceTimer ?? downloads.loop.makeTimer { [weak self] in self?.lookAtPace() }
    paceTimer = timer
    timer.schedule(after: AbandonedUnknown.interval)
  }

  func lookAtPace() {
    guard let fetch, case .measured(var allowance) = state.unread, !hasReaders else { return }
    let keepsPace = allowance.keepsPace(fetch.frontier)
    state.unread = .measured(allowance)
    guard keepsPace else { return pauseForGood("no-readers") }
    paceTimer?.schedule(after: AbandonedUnknown.interval)
  }

  /// Decides whether the fill goes on after its last reader has left, or stops. If it stops, the held bytes stay.
  func readersLeft() {
    guard let fetch else { return }
    guard !hasReaders else { return readersMoved() }
    let total = fetch.spanEnd ?? body.total
    let decision = decideAbandoned(
      held: body.held.count, remaining: total.map { $0 - min($0, fetch.frontier) }, total: body.total,
      originHasRanges: originHasRanges, abandonedFill: route.abandonedFill)
    guard decision == .goOn, !isStreaming else { return pauseForGood("no-readers") }
    state.unread = .goesOn
    if body.total == nil {
      let allowance = AbandonedUnknown(at: fetch.frontier, abandonedFill: max(route.abandonedFill, renewed ?? 0))
      state.unread = .measured(allowance)
      guard !allowance.isEnough(fetch.frontier) else { return pauseForGood("no-readers") }
      // A body that replaces one of known length is no live stream, so its pace is not checked.
      if renewed == nil { watchPace() }
    }
    if state.goesOnUnread() { fetch.resume() }
    if let least = downloads.abandoned.add(self, of: route.upstream, on: downloads.loop) {
      least.loop.run { $0.pauseForGood("too-many-fills-without-readers") }
    }
  }

  private var originHasRanges: Bool {
    coordinator?.identity.strongValidator != nil && tellsOfRanges && fetch?.originRefusesRanges == false
  }

  private var tellsOfRanges: Bool {
    switch kind {
    case .first(let seesRanges): seesRanges
    case .span, .mending, .continuation: true
    case .replay: false
    }
  }

  /// Treats a fill that has no reader after one second like a fill whose readers have left.
  func watchForReaders() {
    let timer = downloads.loop.makeTimer { [weak self] in self?.readersLeft() }
    watch = timer
    timer.schedule(after: .seconds(1))
  }

  /// Ends the fill, because the server ends; fetched bytes stay.
  func stop() { letGo() }

  func pauseForGood(_ why: String) {
    guard let fetch, let coordinator, coordinator.endUnlessRead(self) else { return }
    downloads.events.log(
      .info, "fill-paused",
      ["upstream": route.upstreamName, "body": body.id.hex, "at": "\(fetch.frontier)", "why": why])
    if state.keeping == .memory(hasWindow: true) { body.fail(.notKept) }
    letGo()
  }
}
