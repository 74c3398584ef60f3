import PawlCache
import PawlCacheStore
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream
import PawlWire

/// A fetch that brings one span of a stored body from the origin to the disk. It belongs to its loop, not to the client that caused it.
final class Fill: FetchBodySink {
  /// The largest number of bytes by which a fill of unknown length may be ahead of its fastest reader.
  static let unknownLead: UInt64 = 64 << 20

  let downloads: LoopDownloads
  let route: RouteSettings
  let response: StoredResponse
  let store: CacheStore
  var coordinator: FillCoordinator?
  /// The fetch, until the fill is over.
  @exclusivity(unchecked) var fetch: OriginFetch?
  let kind: Kind
  /// When the fill began, for the list of transfers.
  private(set) var began = Monotonic(nanoseconds: 0)
  var sample = TransferSample()
  @exclusivity(unchecked) var state = FillState()
  /// A summary of the bytes that were streamed. The streamed bytes are in no file, so they can be compared only with this summary.
  @exclusivity(unchecked) var streamed: DeliveredMemory?
  /// Finds slow readers that hold up the other readers of a streamed body.
  var overtaking: Overtaking?
  /// The length in bytes of the body that this fill's body replaces, if the fetch ran in the background and has no reader at first (RFC
  /// 5861 §3).
  var renewed: UInt64?
  /// Checks the pace of a fill without readers.
  var paceTimer: LoopTimer?
  var watch: LoopTimer?
  var confirmed: ((Confirmation) -> Void)?

  /// The reason why a fill was begun.
  enum Kind {
    /// To bring the content of the first response; `seesRanges`: whether that response shows that the origin has ranges.
    case first(seesRanges: Bool)
    /// To bring bytes that a reader lacks, in a body of which other fills have brought other spans.
    case span
    /// To fetch lost bytes again, by range.
    case mending
    /// To fetch lost bytes again, with the complete body from its first byte on.
    case replay(MendingReplay)
    /// To continue a private body that was left unfinished at this offset.
    case continuation(from: UInt64)
  }

  /// The result of asking the origin for a span.
  enum Confirmation {
    /// No difference was found between this representation and what the origin has now, and there is space for the span.
    case same
    case changed
    /// The response to this request may not be given to the clients that have other bytes of the body.
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
  /// The number of bytes that this fill has brought, for the choice among abandoned fills.
  var advanced: UInt64 { fetch.map { $0.frontier - $0.spanStart } ?? 0 }

  /// Takes over a fetch whose first response has just been stored.
  init(
    _ fetch: OriginFetch, of response: StoredResponse, in store: CacheStore, on downloads: LoopDownloads,
    route: RouteSettings, seesRanges: Bool
  ) {
    (self.fetch, self.response, self.store, self.route) = (fetch, response, store, route)
    kind = .first(seesRanges: seesRanges)
    self.downloads = downloads
    fetch.hand(to: .body(self))
  }

  /// Begins with the content of the first response, at `start`.
  /// - Parameter sharing: decides which other requests may have the content while it comes; `nil`: only requests that could also have the
  ///   content after it was stored.
  func begin(_ identity: RepresentationIdentity, from start: UInt64, through end: UInt64?, sharing: Sharing?) {
    downloads.fills[ObjectIdentifier(self)] = self
    noteBegin()
    coordinator = FillCoordinator.began(
      self, response, on: downloads.loop, from: start, through: end ?? identity.total, sharing: sharing)
    fetch?.accept(FirstResponse(identity, status: response.head.status), from: start, through: end)
  }

  private func noteBegin() {
    began = downloads.loop.now
    downloads.services.counters.add(.fillsBegan)
  }

  /// Starts a fill for a span that a reader lacks. The caller has checked ``mayGrow(_:by:)``, unless only lost bytes are fetched.
  /// - Parameters:
  ///   - isReplayed: whether the origin is asked for the body from byte zero, without a range. Then only the lost bytes in `span` are used.
  ///   - confirmed: called once, with the result of asking the origin.
  static func start(
    _ span: Range<UInt64>, of response: StoredResponse, for request: IncomingRequest, in store: CacheStore,
    on downloads: LoopDownloads, isReplayed: Bool = false, confirmed: ((Confirmation) -> Void)? = nil
  ) {
    let fill = Fill(span, of: response, for: request, in: store, on: downloads, isReplayed: isReplayed)
    guard let coordinator = FillCoordinator.beganUnlessComing(fill, response, on: fill.downloads.loop, span) else {
      // The fill was never begun. Without this call, the fill and its fetch would keep each other in memory.
      fill.fetch?.cancel()
      return fill.downloads.loop.nextTurn { confirmed?(.same) }
    }
    fill.confirmed = confirmed
    fill.downloads.fills[ObjectIdentifier(fill)] = fill
    fill.noteBegin()
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

  /// Makes the fill that ``goOn(with:for:in:on:confirmed:)`` begins.
  init(
    goingOnWith response: StoredResponse, from start: UInt64, for request: IncomingRequest, in store: CacheStore,
    on downloads: LoopDownloads
  ) {
    (self.response, self.store, route, self.downloads) = (response, store, request.route, downloads)
    kind = .continuation(from: start)
    fetch = OriginFetch(for: request, base: request.asSent, use: .fill, for: .body(self))
  }

  // MARK: - Content

  /// Confirms at once if the origin has no ranges, because a replay may take long before the first new bytes come. Otherwise the first new
  /// bytes confirm, because they show whether there is space on disk.
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
    // If another fill of this body has found no space on disk, there is none for this fill either.
    if !isStreaming, body.isStreaming { state.streams() }
    if !isStreaming, downloads.services.expectsSlowWrites, writeInPool(bytes, at: offset) { return .pause }
    wasWritten(bytes, at: offset, Result { () throws(StoreError) in try body.write(bytes, at: offset) })
    return isPaused ? .pause : .goOn
  }

  /// Stops storing a body of unknown length when a limit of the route is reached.
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
    // Confirm in the next turn, because the callback may read at once and so call this fill again.
    if confirmed != nil, fetch != nil { downloads.loop.nextTurn { [weak self] in self?.confirm(.same) } }
    endIfEnough(offset + UInt64(bytes.count))
  }

  /// Writes in the pool, because the disk is slow. The loop goes on, and this fill waits.
  /// - Returns: `false` if the pool takes no work, because it has stopped.
  private func writeInPool(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
    let (copy, body) = (Array(bytes), body)
    guard state.writes() else { return false }
    let isWriting = downloads.pool.run(
      {
        copy.withUnsafeBytes { bytes in Result { () throws(StoreError) in try body.write(bytes, at: offset) } }
      }, then: downloads.loop
    ) { [self] outcome in
      let end = state.written()
      // The fill has ended meanwhile, so the space that was reserved for it is released.
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

  /// Stops storing, because there is no space on disk or a limit is reached. From now on the bytes pass through memory at the pace of the
  /// readers.
  private func stream(_ why: String) {
    guard !isStreaming else { return }
    state.streams()
    downloads.events.log(
      .warning, "streaming-unstored", ["upstream": route.upstreamName, "body": body.id.hex, "why": why])
    if body.beginStreaming() { state.takesWindow() }
    store.forget(response)
    if !hasReaders { giveUp(BodyEnd(party: .pawl, reason: why)) }
  }

  /// Ends the fill, because the bytes differ from the held bytes. So the content has changed at the origin.
  private func differs(_ fetch: OriginFetch, before end: UInt64) -> Flow {
    fetchFailed(fetch, .changed("digest-differs-before-\(end)"))
    return .pause
  }

  private func mustWait(at frontier: UInt64) -> Bool {
    if let replay, replay.mustWait(at: frontier) { return true }
    if isStreaming { return body.windowIsFull }
    guard body.total == nil else { return false }
    guard let fastest = body.readers.fastest else {
      // This limit holds until the first reader comes, or until ``watchForReaders()`` has found that none comes.
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

  /// Ends a replay, because all lost bytes have come again.
  func endReplay() {
    guard let fetch else { return }
    fetch.cancel()
    fetchEnded(fetch, at: fetch.frontier)
  }

  func fetch(_ fetch: OriginFetch, compare bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Comparison {
    if let replay { return replay.agrees(bytes, at: offset) ? .equal : .different }
    let outcome = StoredComparison.compare(bytes, at: offset, with: body, then: &streamed, for: fetch)
    if outcome == .equal, offset + UInt64(bytes.count) == continuesFrom {
      // All bytes that were held before have come again.
      downloads.loop.nextTurn { [weak self] in self?.confirm(.same) }
    }
    return outcome
  }
}
