import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlUpstream
import PawlWire

/// A request that goes to the origin as it is, and whose response is relayed without storing it: unsafe methods, HEAD, OPTIONS,
/// upgrades, and conditional requests that only the origin can evaluate.
///
/// A client that sends its content or reads the response slowly holds no place at the origin, because ``RequestIntake`` and
/// ``ResponseBuffer`` buffer the bytes. Beyond the limits of these buffers, the faster side waits for the slower one.
final class ForwardExchange: Exchange, OriginExchangeDelegate, BodySource, ResponseBufferSource {
  /// The time after which pawl itself sends `100 (Continue)` to a client that expects it, if the origin has not sent it.
  private static let continuePatience = Duration.seconds(1)

  let request: IncomingRequest
  let channel: any ResponseChannel
  private let bypass: CacheStatus?
  @exclusivity(unchecked) var state = ForwardState()
  var origin: OriginExchange?
  let spooled: SpooledContent?
  private let isStream: Bool
  var feed: FileFeed?
  /// Buffers the request's content on its way to the origin; `nil`: there is no content, or it is spooled.
  var intake: RequestIntake?
  var intakeTimer: LoopTimer?
  var waitingTrailers: Fields?
  /// The number of bytes of the request's content that came so far.
  var received: UInt64 = 0
  private let answer: ResponseBuffer
  private(set) var trailers = Fields()
  private(set) var isLive = false
  /// The stored response that a GET would get if the origin's representation is unchanged. A HEAD request then gets the tag of
  /// this response.
  var stored: StoredResponse?
  /// The same as ``stored``, if the origin's response shows that it is unchanged; else `nil`.
  var agreed: StoredResponse?
  private var continueTimer: LoopTimer?
  private var keptAnswer: StoredPostResponse?
  private let requestTime: Int64
  weak var consumer: (any BodyConsumer)?

  /// - Parameters:
  ///   - reason: why the request is passed on, for Cache-Status; `nil`: no Cache-Status is added.
  ///   - content: the request's content, if it has been spooled.
  ///   - isStream: whether the origin gets the content while the content comes from the client.
  init(
    _ request: IncomingRequest, channel: any ResponseChannel, why reason: CacheStatus.ForwardReason?,
    content: SpooledContent? = nil, isStream: Bool = false
  ) {
    (self.request, self.channel, spooled, self.isStream) = (request, channel, content, isStream)
    answer = ResponseBuffer(for: request)
    requestTime = request.loop.loop.wallSeconds
    bypass = request.head.method.isRetrieval ? reason.map { CacheStatus(fwd: $0) } : nil
    answer.holder = self
  }

  func start() {
    guard !OriginRequests.isLoop(request.head.fields) else {
      return fail(ProxyError(.proxyLoopDetected))
    }
    if case .length(let count) = request.head.framing, count > maxUpload { return refuseContent() }
    request.record.cacheOutcome = bypass == nil ? .none : .bypass
    request.record.upstream = request.route.upstreamName
    guard spooled == nil, request.head.framing != .none, request.head.framing != .length(0) else {
      return ask(.passThrough)
    }
    holdBack(!isStream && request.route.buffersRequests && RequestIntake.waits(request.head))
  }

  /// Holds the request back until its content is here. With `waits == false`, holds it back for one turn of the loop only, since
  /// content may have come with the head.
  private func holdBack(_ waits: Bool) {
    state.holds(waits: waits)
    let intake = RequestIntake(for: request, spills: waits)
    intake.holder = self
    self.intake = intake
    request.loop.loop.nextTurn { [self] in
      guard state.isHeld else { return }
      if waits { expectContent() } else { ask(.upload) }
    }
  }

  /// Starts a timer at whose end the request is sent: a client that sends nothing for ``RequestIntake/silence`` may be waiting
  /// for the origin's response.
  private func expectContent() {
    let timer = request.loop.loop.makeTimer { [weak self] in
      if self?.state.isHeld == true { self?.ask(.upload) }
    }
    intakeTimer = timer
    timer.schedule(after: RequestIntake.silence)
  }

  /// Asks for a place at the origin.
  /// - Parameter atOnce: whether an idle connection may be taken within this call.
  func ask(_ use: OriginUse, atOnce: Bool = false) {
    guard state.asks() else { return }
    intakeTimer?.close()
    let options = HopByHop.connectionOptions(request.head.fields)
    let isUpgrade = options.upgrade && request.head.fields.contains(.upgrade) && !isHTTP2Upgrade
    var head = OriginRequests.forwarded(request, keepingUpgrade: isUpgrade)
    if let spooled { head.framing = .length(spooled.count) }
    if bypass != nil, !isUpgrade, head.framing == .none { OriginRequests.setAcceptEncoding(&head.fields, request) }
    let wantsContinue =
      use == .upload && head.fields.contains(.expect) && request.head.version.takesInterim
    if !wantsContinue { head.fields.removeAll(.expect) }
    let asked = OriginRequest(
      head: head, use: use, isUpgrade: isUpgrade, holder: PlaceMarks.holder(of: request))
    if wantsContinue, continueTimer == nil { armContinue() }
    let pool = request.loop.pool(for: request.route.upstream)
    let exchange = atOnce ? pool.prepare(asked, delegate: self) : pool.start(asked, delegate: self)
    origin = exchange
    if atOnce { exchange.begin() }
    if use == .upload, !state.isConnected { watchQueue() }
  }

  /// Lets the content go to a file if the request waits longer than ``RequestIntake/patience`` for a place.
  private func watchQueue() {
    intake?.spills = false
    let timer = request.loop.loop.makeTimer { [weak self] in
      guard let self, let origin = self.origin, origin.isWaitingForPlace else { return }
      self.intake?.spills = self.request.route.buffersRequests
      self.intakeChanged()
    }
    intakeTimer = timer
    timer.schedule(after: RequestIntake.patience)
  }

  /// Whether the request asks for an upgrade to HTTP/2, which is never passed on (Hygiene, "Upgrade").
  private var isHTTP2Upgrade: Bool {
    request.head.fields.contains(.http2Settings)
      || request.head.fields.all(.upgrade).contains { $0.equalsIgnoringCase("h2c") }
  }

  private func armContinue() {
    let timer = request.loop.loop.makeTimer { [weak self] in
      guard let self, !self.channel.hasResponded else { return }
      self.channel.interim(ResponseHead(status: 100, reason: Bytes("Continue")))
    }
    timer.schedule(after: Self.continuePatience)
    continueTimer = timer
  }

  // MARK: - The answer, towards the client

  func exchange(_ exchange: OriginExchange, interim head: ResponseHead) {
    if head.status == 100 { continueTimer?.cancel() }
    channel.interim(head)
  }

  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming) {
    continueTimer?.cancel()
    request.collect(exchange, status: head.status)
    if let error = ProxyError.unasked(head.status, to: request.head.method, asks: request.head.fields.contains) {
      originEnds()
      exchange.cancel()
      return fail(error)
    }
    guard request.rangeCoding.takesPart(head),
      head.status != 206 || !AnswerCoding.mayBeHeldCoded(head.fields, by: request)
    else { return askForWhole(instead: exchange) }
    if request.route.uploads != nil, request.head.fields.contains(.tusResumable) {
      OriginProtocolLearning.learn(passed: request, head)
    }
    var reply = OriginRequests.relayed(head)
    bypass.map { status in
      var status = status
      status.fwdStatus = head.status
      status.append(to: &reply.fields)
    }
    if request.head.method == .head {
      guard promises(head, &reply) else {
        exchange.cancel()
        originEnds()
        return channel.reply(Replies.preconditionFailed())
      }
    }
    keptAnswer = StoredPostResponse(to: request, head, framing, requestTime: requestTime)
    state.answerBegins()
    isLive = exchange.isLive
    let (answered, length) = (reply, length(head, framing))
    request.loop.invalidate(after: request, answer: head) { [weak self] in
      guard let self, self.state.givesAnswer else { return }
      self.keptAnswer?.invalidated()
      self.give(answered, length, hasBody: framing != .none)
    }
  }

  /// Asks the origin again, for the complete representation instead of a part, because the client must not append bytes of this
  /// response to the part that it holds.
  private func askForWhole(instead exchange: OriginExchange) {
    exchange.cancel()
    state.restarts()
    request.rangeCoding = .unknown
    start()
  }

  private func length(_ head: ResponseHead, _ framing: BodyFraming) -> ContentLength {
    guard framing == .none, request.head.method == .head else { return ContentLength(framing) }
    return head.fields.only(.contentLength)?.strictDecimal.map(ContentLength.known) ?? .none
  }

  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer) {
    request.record.bytesFromOrigin += UInt64(bytes.count)
    request.loop.counters.add(.fromOriginNew, UInt64(bytes.count))
    let flow = answer.append(bytes)
    keptAnswer?.append(bytes)
    if flow == .pause { exchange.pause() }
    if !exchange.isDelivering || answer.count >= ResponseBuffer.lowWater { consumer?.bodyIsReady() }
  }

  func exchangeDelivered(_ exchange: OriginExchange) { consumer?.bodyIsReady() }

  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) {
    request.collectEnd(exchange)
    originEnds()
    state.answerEnds()
    self.trailers = Trailers.relayed(trailers)
    keptAnswer?.ended()
    consumer?.bodyIsReady()
  }

  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) {
    failure.beforeHead ? request.collect(exchange, status: 0) : request.collectEnd(exchange)
    broke(failure.error)
  }

  /// Ends the exchange with an error, because the response does not come or breaks off.
  func broke(_ error: ProxyError) {
    originEnds()
    continueTimer?.cancel()
    if !channel.hasResponded { return fail(error) }
    state.answerFails(.origin(error.kind))
    consumer?.bodyIsReady()
  }

  func exchange(
    _ exchange: OriginExchange, upgraded stream: SocketStream, head: ResponseHead, leftover: [UInt8]
  ) {
    originEnds()
    continueTimer?.cancel()
    var reply = head
    reply.reason = []
    let upgrade = head.fields.first(.upgrade)
    HopByHop.strip(&reply.fields)
    if let upgrade { reply.fields.append(.upgrade, upgrade) }
    channel.upgrade(reply, to: stream, leftover: leftover, holding: exchange)
  }

  func fail(_ error: ProxyError) {
    state.dropsAnswer()
    channel.fail(request, error)
  }

  func next(limit: Int) -> BodyPiece {
    if let piece = answer.next(limit: limit) { return piece }
    return switch state.answer {
    case .failed(let failure): .failed(failure.end)
    case .ended: .end
    case .awaited, .coming, .dropped: origin?.isDelivering == true ? .soon : .later
    }
  }

  func bufferTakesMore() { origin?.resume() }
  func bufferIsReady() { consumer?.bodyIsReady() }

  func finish() { letGo() }
  func clientLeft() { letGo() }
  /// Called when the response has been sent. If the origin still sends bytes, the ``OriginExchange`` reads and drops them, so
  /// that the connection can be used again.
  func responseSent() { continueTimer?.cancel() }

  func letGo() {
    state.dropsAnswer()
    continueTimer?.cancel()
    origin?.cancel()
    originEnds()
    answer.removeAll()
    intake?.removeAll()
    intakeTimer?.close()
    feed = nil
  }

  /// Forgets the exchange with the origin, because the exchange is over or its response is of no use.
  func originEnds() {
    origin = nil
    state.originEnds()
  }
}
