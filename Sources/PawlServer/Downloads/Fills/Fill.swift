import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlStore
import PawlUpstream
import PawlWire

/// One span of a stored body on its way from the origin to disk. Owned by its loop, not by the client that caused it.
final class Fill: FetchBodySink {
  /// A body of unknown length runs at most so far ahead of its fastest reader.
  static let unknownLead: UInt64 = 64 << 20

  let owner: LoopDownloads
  let route: RouteSettings
  let response: StoredResponse
  let store: CacheStore
  var coordinator: FillCoordinator?
  private(set) var fetch: OriginFetch?
  private(set) var isPaused = false
  /// A piece is being written in the pool; nothing more comes until it is.
  private(set) var isWriting = false
  /// What came to its end meanwhile.
  private var afterWriting: (() -> Void)?
  private var isStreaming = false
  /// Whether the body's window is for what this fill brings: then nobody else brings it.
  private var hasWindow = false
  /// Looks for who holds up the others of what is streamed.
  var overtaking: Overtaking?
  /// Of what was streamed: it is in no file to compare with.
  private var streamed: DeliveredMemory?
  private var isAbandoned = false
  /// How far it goes on without readers where nobody knows its length.
  var allowance: AbandonedUnknown?
  /// How long the body is that it takes the place of, where nobody was to read it at once (RFC 5861 §3).
  var renewed: UInt64?
  /// Looks at the pace of a fill that nobody reads, or at who holds up the others.
  var paceTimer: LoopTimer?
  private var seesRanges: Bool
  private var watch: LoopTimer?
  var confirmed: ((Confirmation) -> Void)?
  /// It brings again what is lost.
  let mends: Bool
  /// Where that takes the whole body from its first byte on.
  private(set) var replay: MendingReplay?
  /// Begun for a reader that lacks it, in a body that others brought.
  let isSpan: Bool
  /// Where it goes on with a private body that was left there.
  private var continuesFrom: UInt64?

  /// What the origin says to a span that is asked of it.
  enum Confirmation {
    /// It still has this representation, as far as it can be told, and there is room for the span.
    case same
    case changed
    /// What it says to this request is not for those who have the rest.
    case othersOnly
  }

  var body: StoredBody { response.body }
  /// How far this span has come, for the choice among abandoned fills.
  var advanced: UInt64 { fetch.map { $0.frontier - $0.spanStart } ?? 0 }

  /// Takes over a fetch whose first answer has just been stored.
  init(
    _ fetch: OriginFetch, of response: StoredResponse, in store: CacheStore, on owner: LoopDownloads,
    route: RouteSettings, seesRanges: Bool
  ) {
    (self.fetch, self.response, self.store, self.route) = (fetch, response, store, route)
    (self.seesRanges, isSpan, mends) = (seesRanges, false, false)
    self.owner = owner
    fetch.hand(to: .body(self))
  }

  /// Begins with the content behind the first answer, at `start`.
  /// - Parameter sharing: who else may have it while it comes; `nil`: those only who may have it anyway.
  func begin(_ identity: RepresentationIdentity, from start: UInt64, through end: UInt64?, sharing: Sharing?) {
    owner.fills[ObjectIdentifier(self)] = self
    coordinator = FillCoordinator.began(
      self, response, on: owner.loop, from: start, through: end ?? identity.total, sharing: sharing)
    fetch?.accept(FirstAnswer(identity, status: response.head.status), from: start, through: end)
  }

  /// Starts a span of its own for a reader that lacks it, and for whom the body ``mayGrow(_:by:)``.
  /// - Parameters:
  ///   - isReplayed: it is asked for from zero, without a range; of it only what is lost is wanted.
  ///   - confirmed: called once.
  static func start(
    _ span: Range<UInt64>, of response: StoredResponse, for request: IncomingRequest, in store: CacheStore,
    on downloads: LoopDownloads, isReplayed: Bool = false, confirmed: ((Confirmation) -> Void)? = nil
  ) {
    let fill = Fill(span, of: response, for: request, in: store, on: downloads, isReplayed: isReplayed)
    guard let coordinator = FillCoordinator.beganUnlessComing(fill, response, on: fill.owner.loop, span) else {
      // It was never begun: the two would hold each other.
      fill.fetch?.cancel()
      return fill.owner.loop.nextTurn { confirmed?(.same) }
    }
    fill.confirmed = confirmed
    fill.owner.fills[ObjectIdentifier(fill)] = fill
    fill.coordinator = coordinator
    let identity = coordinator.identity
    let asking = decideStart(at: span.lowerBound, identity: identity, isReplayed: isReplayed)
    let begin = { [weak fill] in fill?.fetch?.start(span: span, of: identity, asking: asking) ?? () }
    fill.replay?.begin(begin) ?? begin()
  }

  private init(
    _ span: Range<UInt64>, of response: StoredResponse, for request: IncomingRequest, in store: CacheStore,
    on owner: LoopDownloads, isReplayed: Bool
  ) {
    (self.response, self.store, route, self.owner) = (response, store, request.route, owner)
    isSpan = true
    seesRanges = !isReplayed
    mends = isReplayed || response.body.lostRun(at: span.lowerBound) != nil
    replay = isReplayed ? MendingReplay(response.body, through: span.upperBound, on: request.loop.loop) : nil
    fetch = OriginFetch(for: request, base: request.asSent, use: .fill, for: .body(self))
    replay?.fill = self
  }

  /// See ``goOn(with:for:in:confirmed:)``.
  init(
    goingOnWith response: StoredResponse, from start: UInt64, for request: IncomingRequest, in store: CacheStore,
    on owner: LoopDownloads
  ) {
    (self.response, self.store, route, self.owner) = (response, store, request.route, owner)
    (isSpan, seesRanges, mends, continuesFrom) = (true, true, false, start)
    fetch = OriginFetch(for: request, base: request.asSent, use: .fill, for: .body(self))
  }

  // MARK: - What comes

  /// Told with the first octets, which have to find room, but where those may be long in coming.
  func fetchContinues(_ fetch: OriginFetch) {
    if fetch.originRefusesRanges, continuesFrom == nil { confirm(.same) }
  }

  private func confirm(_ confirmation: Confirmation) {
    let confirmed = confirmed
    self.confirmed = nil
    confirmed?(confirmation)
  }

  func fetch(_ fetch: OriginFetch, bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Flow {
    if replay?.agrees(bytes, at: offset) == false { return differs(fetch, before: offset + UInt64(bytes.count)) }
    if body.total == nil, !isStreaming { keepWithinLimits(offset + UInt64(bytes.count)) }
    // Another fill of it found no room before: there is none for this one either.
    if !isStreaming, body.isStreaming { isStreaming = true }
    if !isStreaming, owner.services.expectsSlowWrites, writeInPool(bytes, at: offset) { return .pause }
    wasWritten(bytes, at: offset, Result { () throws(StoreError) in try body.write(bytes, at: offset) })
    return isPaused ? .pause : .goOn
  }

  /// Of a body whose length nobody knows, as much is kept as the route allows.
  private func keepWithinLimits(_ end: UInt64) {
    if end > route.maxUnknown { return stream("max-unknown") }
    if route.policy.maxObject > 0, end > route.policy.maxObject { stream("max-object") }
  }

  private func wasWritten(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, _ outcome: Result<Duration, StoreError>
  ) {
    switch outcome {
    case .success(let took): owner.services.noteWrite(took)
    case .failure(.differs):
      if let fetch { _ = differs(fetch, before: offset + UInt64(bytes.count)) }
      return
    case .failure(let failure):
      stream("\(failure)")
      do { try body.write(bytes, at: offset) } catch { giveUp(BodyEnd(party: .pawl, reason: "storage-failed")) }
    }
    if isStreaming {
      if streamed == nil { streamed = DeliveredMemory(from: offset) }
      streamed?.note(bytes)
    }
    isPaused = mustWait(at: offset + UInt64(bytes.count))
    if isPaused, isStreaming { watchSlowReaders() }
    // Who is told may read at once, and so move this fill.
    if confirmed != nil, fetch != nil { owner.loop.nextTurn { [weak self] in self?.confirm(.same) } }
    endIfEnough(offset + UInt64(bytes.count))
  }

  /// Where the disk does not follow: the loop goes on, this fill waits.
  /// - Returns: `false` when the pool has stopped.
  private func writeInPool(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
    let (copy, body) = (Array(bytes), body)
    isWriting = owner.pool.run(
      {
        copy.withUnsafeBytes { bytes in Result { () throws(StoreError) in try body.write(bytes, at: offset) } }
      }, then: owner.loop
    ) { [self] outcome in
      isWriting = false
      // It has ended without it: what was reserved for it goes back.
      guard fetch != nil else { return body.fillPaused() }
      copy.withUnsafeBytes { wasWritten($0, at: offset, outcome) }
      if let afterWriting {
        self.afterWriting = nil
        return afterWriting()
      }
      if !isPaused { fetch?.resume() }
    }
    return isWriting
  }

  /// Room on disk is gone, or not allowed: from here on bytes pass through memory at the pace of the readers.
  private func stream(_ why: String) {
    guard !isStreaming else { return }
    isStreaming = true
    owner.events.log(
      .warning, "streaming-unstored", ["upstream": route.upstreamName, "body": body.id.hex, "why": why])
    hasWindow = body.beginStreaming()
    store.forget(response)
    if !hasReaders { giveUp(BodyEnd(party: .pawl, reason: why)) }
  }

  /// What came is not what was held: it has changed at the origin.
  private func differs(_ fetch: OriginFetch, before end: UInt64) -> Flow {
    fetchFailed(fetch, .changed("digest-differs-before-\(end)"))
    return .pause
  }

  private func mustWait(at frontier: UInt64) -> Bool {
    if let replay, replay.mustWait(at: frontier) { return true }
    if isStreaming { return body.windowIsFull }
    guard body.total == nil else { return false }
    guard let fastest = body.readers.fastest else {
      // Until somebody has come to read it, or somebody notes that nobody has.
      return allowance == nil && frontier - (fetch?.spanStart ?? 0) > min(route.abandonedFill, Self.unknownLead)
    }
    return frontier > fastest + Self.unknownLead
  }

  func readersMoved() {
    if isStreaming, body.isWindowUnread { return endUnread() }
    guard isPaused, !isWriting, let fetch, !mustWait(at: fetch.frontier) else { return }
    isPaused = false
    fetch.resume()
  }

  func shorten(to end: UInt64) { fetch?.shorten(to: end) }

  /// All that is lost has come again.
  func endReplay() {
    guard let fetch else { return }
    fetch.cancel()
    fetchEnded(fetch, at: fetch.frontier)
  }

  func fetch(_ fetch: OriginFetch, compare bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Comparison {
    if let replay { return replay.agrees(bytes, at: offset) ? .equal : .different }
    let outcome = StoredComparison.compare(bytes, at: offset, with: body, then: &streamed, for: fetch)
    if outcome == .equal, offset + UInt64(bytes.count) == continuesFrom {
      // All that was left here has come again.
      owner.loop.nextTurn { [weak self] in self?.confirm(.same) }
    }
    return outcome
  }

  // MARK: - Ends

  func fetchEnded(_ fetch: OriginFetch, at end: UInt64) {
    guard !isWriting else { return afterWriting = { [weak self] in self?.fetchEnded(fetch, at: end) } }
    // Lost bytes that came again say nothing of where the body ends.
    if body.total == nil, !mends { body.setTotal(end) }
    let isWhole = isStreaming || body.total.map { body.held.contiguousEnd(from: 0) >= $0 } ?? false
    if isWhole { body.complete() }
    confirm(.same)
    coordinator?.ended(self)
    letGo()
  }

  func fetchFailed(_ fetch: OriginFetch, _ failure: FetchFailure) {
    guard !isWriting else { return afterWriting = { [weak self] in self?.fetchFailed(fetch, failure) } }
    if fetch.originRefusesRanges {
      coordinator?.originRefusesRanges()
      if mends, replay == nil, case .gaveUp = failure { return replayInstead() }
      // With a hole before it the rest can be had neither by range nor by replay: who comes next starts anew.
      if fetch.spanStart > body.held.prefix { store.forget(response) }
    }
    switch failure {
    case .changed(let why):
      owner.events.log(
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
      owner.events.log(
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

  private func giveUp(_ end: BodyEnd) {
    guard fetch != nil else { return }
    owner.events.log(
      .warning, "fill-ended",
      ["upstream": route.upstreamName, "body": body.id.hex, "at": "\(fetch?.frontier ?? 0)", "why": end.reason])
    coordinator?.failed(self, end)
    if hasWindow { body.fail(end.party == .pawl ? .notKept : .origin(end.reason)) }
    letGo()
  }

  /// Around lost bytes what stands in the file is compared by its digests only.
  func fetchHeldPrefix(_ fetch: OriginFetch) -> UInt64 { mends ? 0 : body.held.prefix }

  func fetchIsWanted(_ fetch: OriginFetch) -> Bool { hasReaders || isAbandoned }

  var hasReaders: Bool { coordinator?.hasReaders ?? false }

  func letGo() {
    watch?.cancel()
    paceTimer?.close()
    overtaking?.end()
    fetch?.cancel()
    (fetch, afterWriting, replay) = (nil, nil, nil)
    owner.abandoned.remove(self, of: route.upstream)
    owner.fills[ObjectIdentifier(self)] = nil
    body.fillPaused()
    body.wakeAll()
    confirm(.changed)
  }

  // MARK: - Without readers

  /// The last reader went: go on by rule, or pause with what is held.
  func readersLeft() {
    guard let fetch else { return }
    guard !hasReaders else { return readersMoved() }
    let total = fetch.spanEnd ?? body.total
    let decision = decideAbandoned(
      held: body.held.count, remaining: total.map { $0 - min($0, fetch.frontier) }, total: body.total,
      originHasRanges: originHasRanges, abandonedFill: route.abandonedFill)
    guard decision == .goOn, !isStreaming else { return pauseForGood("no-readers") }
    isAbandoned = true
    if body.total == nil {
      allowance = AbandonedUnknown(at: fetch.frontier, abandonedFill: max(route.abandonedFill, renewed ?? 0))
      guard allowance?.isEnough(fetch.frontier) == false else { return pauseForGood("no-readers") }
      // What was whole before is no live stream.
      if renewed == nil { watchPace() }
    }
    if !isWriting {
      isPaused = false
      fetch.resume()
    }
    if let least = owner.abandoned.add(self, of: route.upstream, on: owner.loop) {
      least.loop.run { $0.pauseForGood("four-abandoned-fills") }
    }
  }

  private var originHasRanges: Bool {
    coordinator?.identity.strongValidator != nil && seesRanges && fetch?.originRefusesRanges == false
  }

  /// A fill that nobody came to read after all is treated like one whose readers left.
  func watchForReaders() {
    let timer = owner.loop.makeTimer { [weak self] in self?.readersLeft() }
    watch = timer
    timer.schedule(after: .seconds(1))
  }

  /// The server ends; what was fetched stays.
  func stop() { letGo() }

  func pauseForGood(_ why: String) {
    guard let fetch, let coordinator, coordinator.endUnlessRead(self) else { return }
    owner.events.log(
      .info, "fill-paused",
      ["upstream": route.upstreamName, "body": body.id.hex, "at": "\(fetch.frontier)", "why": why])
    if hasWindow { body.fail(.notKept) }
    letGo()
  }
}
