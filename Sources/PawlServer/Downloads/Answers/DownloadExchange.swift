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

  let request: IncomingRequest
  let channel: any ResponseChannel
  let store: CacheStore
  let downloads: LoopDownloads
  let resource: Resource?
  private(set) var forward: ForwardExchange?
  /// Its place in a fetch that it leads, or waits for.
  @exclusivity(unchecked) var ticket: FetchTicket?
  /// The origin is asked whether what is kept for one user is this one's, too.
  var resumption: PrivateResumption?
  /// Ends the waiting for the origin's word that it goes on with what is held for this user.
  var continuationTimer: LoopTimer?
  private(set) var isOver = false
  @exclusivity(unchecked) private var patience = Patience.unlimited
  var isOutOfPatience: Bool { patience.isOver }
  /// Ends the waiting for another's answer.
  var collapseTimer: LoopTimer?
  @exclusivity(unchecked) var collapsing = Collapsing.mayWait

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
    if AnswerPlan.isForOriginToJudge(request.head.fields) {
      resource?.withLock { settleRangeCoding($0) }
      return forwardInstead(.request)
    }
    if asksPrivately() { return }
    look()
  }

  /// Looks at what is stored, after having read it from the catalogue where that is still owed.
  func look() {
    guard !isOver, forward == nil, !channel.hasResponded else { return }
    guard let resource else { return forwardInstead(.bypass) }
    act(on: decide(resource), of: resource)
  }

  func forwardInstead(_ reason: CacheStatus.ForwardReason) {
    let forward = ForwardExchange(request, channel: channel, why: reason)
    self.forward = forward
    forward.start()
  }

  func failed(_ error: ProxyError) {
    channel.fail(request, error)
  }

  // MARK: - Waiting

  /// Calls `look` again when `body` moves, and gives up waiting after ``patience``.
  func waitForTotal(of stored: StoredResponse) {
    armPatience()
    keep(stored, from: 0)
    waited = stored
    waitForChange(stored)
  }

  private(set) var keeper: CacheReader?
  private var waited: StoredResponse?

  /// A fill needs a reader, or it might pause; until the real one comes, this stands for it.
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
      guard let self, !self.isOver, !self.channel.hasResponded else { return }
      let isHopeless = body.failure != nil || body.isStreaming || !FillCoordinator.isFilling(stored)
      if body.total != nil { return self.serve(stored, self.served) }
      guard isHopeless else { return self.waitForChange(stored) }
      // Its total will never be known.
      self.lookForWhole()
    }
  }

  /// What the answer is to be made of, while its first octets are read back or mended.
  var proving: StoredResponse?
  /// Set when that came to nothing once, and something else was looked for.
  var hasLookedAgain = false
  /// See ``awaitsName(_:)``.
  @exclusivity(unchecked) var naming = Naming.unasked

  /// Whether the origin was asked whether it still has what is held in part.
  var hasConfirmed = false
  var served = Served(arrival: nil, isCollapsed: false)

  /// Until it is decided whether `stored` is what the client's tag names.
  /// - Parameter isOurs: whether it is this request's answer either way; else what is decided is looked at like anything that is stored.
  func waitForProof(_ twin: TwinComparison, of stored: StoredResponse, isOurs: Bool) {
    armPatience()
    // What is compared is on its way for this one.
    keep(stored, from: 0)
    let reference = LoopWeak(self, on: request.loop.loop)
    let isWaiting = twin.wait { reference.run { $0.isProven(stored, isOurs) } }
    if !isWaiting { request.loop.loop.nextTurn { [weak self] in self?.isProven(stored, isOurs) } }
  }

  private func isProven(_ stored: StoredResponse, _ isOurs: Bool) {
    guard !isOver, !channel.hasResponded else { return }
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

  func armPatience() {
    patience.begin {
      let timer = request.loop.loop.makeTimer { [weak self] in
        guard let self, !self.isOver, !self.channel.hasResponded else { return }
        self.lookForWhole()
      }
      timer.schedule(after: Self.patience)
      return timer
    }
  }

  // MARK: - Ends

  func clientLeft() {
    forward?.clientLeft()
    over()
  }

  func responseSent() {
    forward?.responseSent()
    over()
  }

  func over() {
    guard !isOver else { return }
    isOver = true
    patience.close()
    collapseTimer?.close()
    naming.close()
    continuationTimer?.close()
    letKeeperGo()
    waited?.body.cancelWait(token: ObjectIdentifier(self))
    giveTicketBack()
    resumption?.end()
    if let resource { downloads.letGo(of: resource, in: store) }
  }

  func requestBody(_ bytes: UnsafeRawBufferPointer) -> Bool { forward?.requestBody(bytes) ?? true }
  func requestBodyEnded(_ trailers: Fields) { forward?.requestBodyEnded(trailers) }
}

/// How an answer came about, for `Cache-Status` and the log.
struct Served {
  /// `nil`: it was stored, and could be used as it was.
  var arrival: CollapsedFetch.Arrival?
  var isCollapsed: Bool
  /// For the one client whose request was sent to the origin.
  var setCookies: [Bytes] = []
}
