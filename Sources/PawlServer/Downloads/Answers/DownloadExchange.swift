import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlUpstream
import PawlWire

/// A GET or HEAD on a route with a cache. It is answered from a stored response, from a running fill, or from the origin by way of a
/// ``CollapsedFetch``. `DownloadExchange+Lookup` decides what to do, `DownloadExchange+Answer` how to answer.
final class DownloadExchange: Exchange {
  /// The longest time that a range request waits for a total length, or for a comparison. After that it gets the complete body from byte 0.
  static let patience = Duration.seconds(30)
  /// The same limit for a coded form, whose length is not known before the end of the content.
  static let formPatience = Duration.seconds(5)

  let request: IncomingRequest
  let channel: any ResponseChannel
  let store: CacheStore
  let downloads: LoopDownloads
  let resource: Resource?
  @exclusivity(unchecked) private(set) var state = DownloadState.deciding
  /// Asks the origin whether a response that is kept for one user is also the response for this user. `nil` until the origin is asked.
  private(set) var resumption: PrivateResumption?
  @exclusivity(unchecked) private var patience = Patience.unlimited
  var isOutOfPatience: Bool { patience.isOver }
  /// Ends the wait for responses to other requests. One timer for all fetches that this exchange joins.
  var collapseTimer: LoopTimer?
  @exclusivity(unchecked) var collapsing = Collapsing.mayWait
  /// A placeholder for the reader that will send the content. Without any reader the fill might pause.
  private(set) var keeper: CacheReader?
  var served = Served(arrival: nil, isCollapsed: false)

  /// Whether the resource was looked up again, after the response that was to be served turned out to be damaged.
  var hasLookedAgain = false
  /// Whether the answer has already waited for the tag of its body, see ``awaitsName(_:)``.
  var hasWaitedForName = false
  /// Whether this exchange has tried to make a coded form. If there is none after that, the content is compressed while it is sent.
  var hasTriedForm = false
  /// Whether the origin was asked if it still has the representation of which a part is held.
  var hasConfirmed = false

  init(
    _ request: IncomingRequest, channel: any ResponseChannel, store: CacheStore, downloads: LoopDownloads
  ) {
    (self.request, self.channel, self.store, self.downloads) = (request, channel, store, downloads)
    // `nil` only if there is no resource and none may be created.
    resource = request.resource ?? store.resource(for: request.key(request.head.target), create: true)
  }

  func start() {
    request.record.upstream = request.route.upstreamName
    guard !OriginRequests.isLoop(request.head.fields) else {
      return failed(ProxyError(.proxyLoopDetected))
    }
    if request.head.fields.mayContain(anyOf: HeldPart.fields) { noteWhatIsHeld() }
    // An event stream is never collapsed: a second client would wait for the first event of the first one.
    if LiveStream.isWanted(request.head.fields) { collapsing.gaveUp() }
    if AnswerPlan.isForOriginToJudge(request.head.fields) {
      if CacheControl(request.head.fields).onlyIfCached { return refuseOnlyIfCached() }
      resource?.withLock { decideRangeCoding($0) }
      return forwardInstead(.request)
    }
    if asksPrivately() { return }
    look()
  }

  /// Whether the answer is still undecided.
  var isUnanswered: Bool { state.isOpen && !channel.hasResponded }

  /// Changes the state. First ends the timer and the wait that belong to the old state.
  func enter(_ next: DownloadState) {
    if case .waiting(let wait, let stored, let timer) = state {
      timer?.close()
      if wait == .total { stored.body.cancelWait(token: ObjectIdentifier(self)) }
    }
    state = next
  }

  /// Looks up the resource and acts on the decision. Rows that are not loaded yet are read from the catalogue first.
  func look() {
    guard isUnanswered else { return }
    enter(.deciding)
    guard let resource else { return forwardInstead(.bypass) }
    let decision = decide(resource)
    explain(decision, of: resource)
    act(on: decision, of: resource)
  }

  func forwardInstead(_ reason: CacheStatus.ForwardReason) {
    guard let asked = request.head.method == .head ? request : request.givingMatchBack() else {
      return preconditionFailed()
    }
    let forward = ForwardExchange(inWordsOfOrigin(asked), channel: channel, why: reason)
    if request.head.method == .head, let resource { forward.stored = resource.withLock(selected) }
    enter(.forwarded(forward))
    forward.start()
  }

  private func inWordsOfOrigin(_ asked: IncomingRequest) -> IncomingRequest {
    var translated = asked
    if asked.head.method == .head, let resource, MintedConditions.areThere(in: asked.head.fields) {
      translated = asked.with(
        fields: MintedConditions.ofRetrieval(asked.head.fields) { tag in resource.known(by: tag) })
    }
    if translated !== request { channel.goesOn(as: translated) }
    return translated
  }

  func resume(by resumption: PrivateResumption) {
    self.resumption = resumption
    enter(.resuming)
  }

  func failed(_ error: ProxyError) {
    channel.fail(request, error)
  }

  // MARK: - Waiting

  /// Waits for the total length of the body, then serves. Gives up after ``patience``, or after ``formPatience`` for a coded form.
  func waitForTotal(of stored: StoredResponse) {
    // A coded form can also be sent at once from its beginning, so its wait is short.
    armPatience(stored.body.isForm ? Self.formPatience : Self.patience)
    keep(stored, from: 0)
    enter(.waiting(for: .total, of: stored, nil))
    guard !FillCoordinator.isFilling(stored) else { return waitForChange(stored) }
    // The fill ended before this request had it: nothing changes any more.
    request.loop.loop.nextTurn { [weak self] in
      guard let self, self.state.hears(.came(.total), of: stored), !self.channel.hasResponded else { return }
      self.lookForTotal(stored)
    }
  }

  /// Registers a placeholder reader at an offset, so that the bytes from there on are fetched and kept.
  func keep(_ stored: StoredResponse, from start: UInt64) {
    // The new reader joins before the old one leaves: without a reader in between, a memory window would move on.
    let next = CacheReader([.body(start, through: nil)], of: stored, for: request, in: store, on: downloads)
    keeper?.finish()
    keeper = next
  }

  /// Removes the placeholder reader. If it stayed, it would hold up the other readers of a streamed body.
  func removePlaceholder() {
    keeper?.finish()
    keeper = nil
  }

  private func waitForChange(_ stored: StoredResponse) {
    let body = stored.body
    body.wait(at: body.held.contiguousEnd(from: 0), token: ObjectIdentifier(self), on: request.loop.loop) {
      [weak self] in
      guard let self, self.state.hears(.came(.total), of: stored), !self.channel.hasResponded else { return }
      self.lookForTotal(stored)
    }
  }

  private func lookForTotal(_ stored: StoredResponse) {
    let body = stored.body
    let isHopeless = body.failure != nil || body.isStreaming || !FillCoordinator.isFilling(stored)
    if body.total != nil { return serve(stored, served) }
    guard isHopeless else { return waitForChange(stored) }
    // The total length will never be known.
    lookForWhole()
  }

  /// Waits until it is decided whether `stored` is the body that the client's tag names.
  /// - Parameter isOurs: whether `stored` answers this request, whatever the outcome is; otherwise the resource is looked up again.
  func waitForProof(_ twin: TwinComparison, of stored: StoredResponse, isOurs: Bool) {
    armPatience()
    // The body that is being compared is needed for this request, too, so a placeholder reader is registered for it.
    keep(stored, from: 0)
    enter(.waiting(for: .twin, of: stored, nil))
    let reference = LoopWeak(self, on: request.loop.loop)
    let isWaiting = twin.wait { reference.run { $0.isProven(stored, isOurs) } }
    if !isWaiting { request.loop.loop.nextTurn { [weak self] in self?.isProven(stored, isOurs) } }
  }

  private func isProven(_ stored: StoredResponse, _ isOurs: Bool) {
    guard state.hears(.came(.twin), of: stored), !channel.hasResponded else { return }
    if isOurs, canBeFinished(stored) { return serve(stored, served) }
    removePlaceholder()
    look()
  }

  /// Whether the missing bytes of `stored` are on their way, or can be fetched.
  func canBeFinished(_ stored: StoredResponse) -> Bool {
    known(stored).canFinish
  }

  private func lookForWhole() {
    patience.end()
    removePlaceholder()
    look()
  }

  /// Starts the timer that limits all waits for a part, unless it was started before.
  /// - Parameter time: the longest time of all waits together.
  func armPatience(_ time: Duration = DownloadExchange.patience) {
    patience.begin {
      let timer = request.loop.loop.makeTimer { [weak self] in
        guard let self else { return }
        // This applies in every state: from now on the exchange asks the origin for no part, and sends the client no part.
        self.patience.end()
        if self.state.hears(.patienceIsOver) { self.lookForWhole() }
      }
      timer.schedule(after: time)
      return timer
    }
  }

  // MARK: - Ends

  func clientLeft() {
    state.forward?.clientLeft()
    over()
  }

  func responseSent() {
    state.forward?.responseSent()
    over()
  }

  private func over() {
    let last = state
    guard !last.isOver else { return }
    enter(.over(last.forward))
    patience.close()
    collapseTimer?.close()
    removePlaceholder()
    switch last {
    case .leading(let fetch): fetch.leaderLeft()
    case .joined(let fetch): fetch.left(ObjectIdentifier(self))
    case .deciding, .resuming, .waiting, .forwarded, .over: break
    }
    resumption?.end()
    if let resource { downloads.letGo(of: resource, in: store) }
  }

  func requestBody(_ bytes: UnsafeRawBufferPointer) -> Bool { state.forward?.requestBody(bytes) ?? true }
  func requestBodyEnded(_ trailers: Fields) { state.forward?.requestBodyEnded(trailers) }
}

/// How an answer came about, for `Cache-Status` and the log.
struct Served {
  /// How the response became current. `nil`: it was stored, and could be used without the origin.
  var arrival: CollapsedFetch.Arrival?
  var isCollapsed: Bool
  /// The `Set-Cookie` values for the one client whose request was sent to the origin.
  var setCookies: [Bytes] = []
}
