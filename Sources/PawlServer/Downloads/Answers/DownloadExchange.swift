import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlUpstream
import PawlWire

/// A GET or HEAD where a cache is on: from what is stored, from a running fill, or from the origin by way of a
/// ``CollapsedFetch``. What to do is decided in `DownloadExchange+Lookup`, how to answer in `DownloadExchange+Answer`.
final class DownloadExchange: Exchange {
  /// The longest a range request waits for a total, or for a comparison, before it gets the whole from byte 0.
  static let patience = Duration.seconds(30)
  /// The same for a form in a content coding, whose end nobody knows before that of the content.
  static let formPatience = Duration.seconds(5)

  let request: IncomingRequest
  let channel: any ResponseChannel
  let store: CacheStore
  let downloads: LoopDownloads
  let resource: Resource?
  @exclusivity(unchecked) private(set) var state = DownloadState.deciding
  /// From when the origin is asked whether what is kept for one user is this one's, too, until this is over.
  private(set) var resumption: PrivateResumption?
  @exclusivity(unchecked) private var patience = Patience.unlimited
  var isOutOfPatience: Bool { patience.isOver }
  /// Ends the waiting for another's answer, over all fetches that it joins.
  var collapseTimer: LoopTimer?
  @exclusivity(unchecked) var collapsing = Collapsing.mayWait
  /// A fill needs a reader, or it might pause; until the real one comes, this stands for it.
  private(set) var keeper: CacheReader?
  var served = Served(arrival: nil, isCollapsed: false)

  /// Whether something else was looked for, after what was to be served turned out to be damaged.
  var hasLookedAgain = false
  /// Whether the answer has waited for the name of its body, see ``awaitsName(_:)``.
  var hasWaitedForName = false
  /// Whether a coded form was to be made; where there is none after that, the content is compressed on its way.
  var hasTriedForm = false
  /// Whether the origin was asked whether it still has what is held in part.
  var hasConfirmed = false

  init(
    _ request: IncomingRequest, channel: any ResponseChannel, store: CacheStore, downloads: LoopDownloads
  ) {
    (self.request, self.channel, self.store, self.downloads) = (request, channel, store, downloads)
    // `nil` only where none is to be made.
    resource = request.resource ?? store.resource(for: request.key(request.head.target), create: true)
  }

  func start() {
    request.record.upstream = request.route.upstreamName
    guard !OriginRequests.isLoop(request.head.fields) else {
      return failed(ProxyError(.proxyLoopDetected))
    }
    if request.head.fields.mayContain(anyOf: HeldPart.fields) { noteWhatIsHeld() }
    // Nobody waits for the first word of another's events.
    if LiveStream.isWanted(request.head.fields) { collapsing.gaveUp() }
    if AnswerPlan.isForOriginToJudge(request.head.fields) {
      resource?.withLock { decideRangeCoding($0) }
      return forwardInstead(.request)
    }
    if asksPrivately() { return }
    look()
  }

  /// Whether it is still to be found out what the answer is.
  var isUnanswered: Bool { state.isOpen && !channel.hasResponded }

  /// Ends what belongs to where it is now alone.
  func enter(_ next: DownloadState) {
    if case .waiting(let wait, let stored, let timer) = state {
      timer?.close()
      if wait == .total { stored.body.cancelWait(token: ObjectIdentifier(self)) }
    }
    state = next
  }

  /// Looks at what is stored, after having read it from the catalogue where that is still owed.
  func look() {
    guard isUnanswered else { return }
    enter(.deciding)
    guard let resource else { return forwardInstead(.bypass) }
    act(on: decide(resource), of: resource)
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

  /// Calls `look` again when `body` moves, and gives up waiting after ``patience``.
  func waitForTotal(of stored: StoredResponse) {
    // What is here of a coded form comes at once from its beginning, too.
    armPatience(stored.body.isForm ? Self.formPatience : Self.patience)
    keep(stored, from: 0)
    enter(.waiting(for: .total, of: stored, nil))
    waitForChange(stored)
  }

  /// Takes the seat of a reader, from an offset on.
  func keep(_ stored: StoredResponse, from start: UInt64) {
    // Before the one before goes: between the two a window would move on.
    let next = CacheReader([.body(start, through: nil)], of: stored, for: request, in: store, on: downloads)
    keeper?.finish()
    keeper = next
  }

  /// One that stays behind would hold up the others where the body is streamed.
  func letKeeperGo() {
    keeper?.finish()
    keeper = nil
  }

  private func waitForChange(_ stored: StoredResponse) {
    let body = stored.body
    body.wait(at: body.held.contiguousEnd(from: 0), token: ObjectIdentifier(self), on: request.loop.loop) {
      [weak self] in
      guard let self, self.state.hears(.came(.total), of: stored), !self.channel.hasResponded else { return }
      let isHopeless = body.failure != nil || body.isStreaming || !FillCoordinator.isFilling(stored)
      if body.total != nil { return self.serve(stored, self.served) }
      guard isHopeless else { return self.waitForChange(stored) }
      // Its total will never be known.
      self.lookForWhole()
    }
  }

  /// Until it is decided whether `stored` is what the client's tag names.
  /// - Parameter isOurs: whether it is this request's answer either way; else what is decided is looked at like anything that is stored.
  func waitForProof(_ twin: TwinComparison, of stored: StoredResponse, isOurs: Bool) {
    armPatience()
    // What is compared is on its way for this one.
    keep(stored, from: 0)
    enter(.waiting(for: .twin, of: stored, nil))
    let reference = LoopWeak(self, on: request.loop.loop)
    let isWaiting = twin.wait { reference.run { $0.isProven(stored, isOurs) } }
    if !isWaiting { request.loop.loop.nextTurn { [weak self] in self?.isProven(stored, isOurs) } }
  }

  private func isProven(_ stored: StoredResponse, _ isOurs: Bool) {
    guard state.hears(.came(.twin), of: stored), !channel.hasResponded else { return }
    if isOurs, canBeFinished(stored) { return serve(stored, served) }
    letKeeperGo()
    look()
  }

  /// Whether what is missing of it is on its way or can be asked for.
  func canBeFinished(_ stored: StoredResponse) -> Bool {
    known(stored).canFinish
  }

  private func lookForWhole() {
    patience.end()
    letKeeperGo()
    look()
  }

  /// - Parameter time: the longest that it waits, all in all.
  func armPatience(_ time: Duration = DownloadExchange.patience) {
    patience.begin {
      let timer = request.loop.loop.makeTimer { [weak self] in
        guard let self else { return }
        // Wherever it is: from now on it asks for no part.
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
    letKeeperGo()
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
  /// `nil`: it was stored, and could be used as it was.
  var arrival: CollapsedFetch.Arrival?
  var isCollapsed: Bool
  /// For the one client whose request was sent to the origin.
  var setCookies: [Bytes] = []
}
