import PawlCache
import PawlCacheStore
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream
import PawlWire

/// One span of a stored body on its way from the origin to disk. Owned by its loop, not by the client that caused it.
final class Fill: FetchBodySink {
  /// A body of unknown length runs at most so far ahead of its fastest reader.
  static let unknownLead: UInt64 = 64 << 20

  let downloads: LoopDownloads
  let route: RouteSettings
  let response: StoredResponse
  let store: CacheStore
  var coordinator: FillCoordinator?
  /// Until it is over.
  @exclusivity(unchecked) var fetch: OriginFetch?
  let kind: Kind
  @exclusivity(unchecked) var state = FillState()
  /// Of what was streamed: it is in no file to compare with.
  @exclusivity(unchecked) var streamed: DeliveredMemory?
  /// Looks for who holds up the others of what is streamed.
  var overtaking: Overtaking?
  /// How long the body is that it takes the place of, where nobody was to read it at once (RFC 5861 §3).
  var renewed: UInt64?
  /// Looks at the pace of a fill that nobody reads, or at who holds up the others.
  var paceTimer: LoopTimer?
  var watch: LoopTimer?
  var confirmed: ((Confirmation) -> Void)?

  /// What it was begun for.
  enum Kind {
    /// The first answer's content; whether that tells that the origin has ranges.
    case first(seesRanges: Bool)
    /// Begun for a reader that lacks it, in a body that others brought.
    case span
    /// Brings again what is lost, by range.
    case mending
    /// That takes the whole body from its first byte on.
    case replay(MendingReplay)
    /// Goes on with a private body that was left there.
    case continuation(from: UInt64)
  }

  /// What the origin says to a span that is asked of it.
  enum Confirmation {
    /// It still has this representation, as far as it can be told, and there is room for the span.
    case same
    case changed
    /// What it says to this request is not for those who have the rest.
    case othersOnly
  }

  var body: StoredBody { response.body }
  var isPaused: Bool { state.isWaiting }
  var isStreaming: Bool { state.keeping != .file }
  var isSpan: Bool { if case .first = kind { false } else { true } }
  var mends: Bool {
    switch kind {
    case .mending, .replay: true
    case .first, .span, .continuation: false
    }
  }
  var replay: MendingReplay? { if case .replay(let replay) = kind, fetch != nil { replay } else { nil } }
  var continuesFrom: UInt64? { if case .continuation(let start) = kind { start } else { nil } }
  /// How far this span has come, for the choice among abandoned fills.
  var advanced: UInt64 { fetch.map { $0.frontier - $0.spanStart } ?? 0 }

  /// Takes over a fetch whose first answer has just been stored.
  init(
    _ fetch: OriginFetch, of response: StoredResponse, in store: CacheStore, on downloads: LoopDownloads,
    route: RouteSettings, seesRanges: Bool
  ) {
    (self.fetch, self.response, self.store, self.route) = (fetch, response, store, route)
    kind = .first(seesRanges: seesRanges)
    self.downloads = downloads
    fetch.hand(to: .body(self))
  }

  /// Begins with the content behind the first answer, at `start`.
  /// - Parameter sharing: who else may have it while it comes; `nil`: those only who may have it anyway.
  func begin(_ identity: RepresentationIdentity, from start: UInt64, through end: UInt64?, sharing: Sharing?) {
    downloads.fills[ObjectIdentifier(self)] = self
    coordinator = FillCoordinator.began(
      self, response, on: downloads.loop, from: start, through: end ?? identity.total, sharing: sharing)
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
    guard let coordinator = FillCoordinator.beganUnlessComing(fill, response, on: fill.downloads.loop, span) else {
      // It was never begun: the two would hold each other.
      fill.fetch?.cancel()
      return fill.downloads.loop.nextTurn { confirmed?(.same) }
    }
    fill.confirmed = confirmed
    fill.downloads.fills[ObjectIdentifier(fill)] = fill
    fill.coordinator = coordinator
    let identity = coordinator.identity
    let asking = decideStart(at: span.lowerBound, identity: identity, isReplayed: isReplayed)
    let begin = { [weak fill] in fill?.fetch?.start(span: span, of: identity, asking: asking) ?? () }
    fill.replay?.begin(begin) ?? begin()
  }

  private init(
    _ span: Range<UInt64>, of response: StoredResponse, for request: IncomingRequest, in store: CacheStore,
    on downloads: LoopDownloads, isReplayed: Bool
  ) {
    (self.response, self.store, route, self.downloads) = (response, store, request.route, downloads)
    if isReplayed {
      kind = .replay(MendingReplay(response.body, through: span.upperBound, on: request.loop.loop))
    } else {
      kind = response.body.lostRun(at: span.lowerBound) == nil ? .span : .mending
    }
    fetch = OriginFetch(for: request, base: request.asSent, use: .fill, for: .body(self))
    replay?.fill = self
  }

  /// See ``goOn(with:for:in:confirmed:)``.
  init(
    goingOnWith response: StoredResponse, from start: UInt64, for request: IncomingRequest, in store: CacheStore,
    on downloads: LoopDownloads
  ) {
    (self.response, self.store, route, self.downloads) = (response, store, request.route, downloads)
    kind = .continuation(from: start)
    fetch = OriginFetch(for: request, base: request.asSent, use: .fill, for: .body(self))
  }

  // MARK: - What comes

  /// Told with the first bytes, which have to find room, but where those may be long in coming.
  func fetchContinues(_ fetch: OriginFetch) {
    if fetch.originRefusesRanges, continuesFrom == nil { confirm(.same) }
  }

  func confirm(_ confirmation: Confirmation) {
    let confirmed = confirmed
    self.confirmed = nil
    confirmed?(confirmation)
  }

  func fetch(_ fetch: OriginFetch, bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Flow {
    if replay?.agrees(bytes, at: offset) == false { return differs(fetch, before: offset + UInt64(bytes.count)) }
    if body.total == nil, !isStreaming { keepWithinLimits(offset + UInt64(bytes.count)) }
    // Another fill of it found no room before: there is none for this one either.
    if !isStreaming, body.isStreaming { state.streams() }
    if !isStreaming, downloads.services.expectsSlowWrites, writeInPool(bytes, at: offset) { return .pause }
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
    case .success(let took): downloads.services.noteWrite(took)
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
    if body.isGathering { downloads.gathering.add(body, on: downloads.loop) }
    state.comes(mustWait: mustWait(at: offset + UInt64(bytes.count)))
    if isPaused, isStreaming { watchSlowReaders() }
    // Who is told may read at once, and so move this fill.
    if confirmed != nil, fetch != nil { downloads.loop.nextTurn { [weak self] in self?.confirm(.same) } }
    endIfEnough(offset + UInt64(bytes.count))
  }

  /// Where the disk does not follow: the loop goes on, this fill waits.
  /// - Returns: `false` when the pool has stopped.
  private func writeInPool(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
    let (copy, body) = (Array(bytes), body)
    guard state.writes() else { return false }
    let isWriting = downloads.pool.run(
      {
        copy.withUnsafeBytes { bytes in Result { () throws(StoreError) in try body.write(bytes, at: offset) } }
      }, then: downloads.loop
    ) { [self] outcome in
      let end = state.written()
      // It has ended without it: what was reserved for it goes back.
      guard let fetch else { return body.fillPaused() }
      copy.withUnsafeBytes { wasWritten($0, at: offset, outcome) }
      guard self.fetch != nil else { return }
      switch end {
      case .ended(let end)?: fetchEnded(fetch, at: end)
      case .failed(let failure)?: fetchFailed(fetch, failure)
      case nil: if !isPaused { fetch.resume() }
      }
    }
    if !isWriting { _ = state.written() }
    return isWriting
  }

  /// Room on disk is gone, or not allowed: from here on bytes pass through memory at the pace of the readers.
  private func stream(_ why: String) {
    guard !isStreaming else { return }
    state.streams()
    downloads.events.log(
      .warning, "streaming-unstored", ["upstream": route.upstreamName, "body": body.id.hex, "why": why])
    if body.beginStreaming() { state.takesWindow() }
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
      return state.allowance == nil && frontier - (fetch?.spanStart ?? 0) > min(route.abandonedFill, Self.unknownLead)
    }
    return frontier > fastest + Self.unknownLead
  }

  func readersMoved() {
    if isStreaming, body.isWindowUnread { return endUnread() }
    guard isPaused, let fetch, !mustWait(at: fetch.frontier) else { return }
    if state.moves() { fetch.resume() }
  }

  func shorten(to end: UInt64) { fetch?.shorten(to: end) }
  func lengthen(to end: UInt64) { fetch?.lengthen(to: end) }

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
      downloads.loop.nextTurn { [weak self] in self?.confirm(.same) }
    }
    return outcome
  }
}
