import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlUpstream
import PawlWire

/// A request that goes to the origin as it is and whose answer comes back as it is: unsafe methods, HEAD, OPTIONS,
/// upgrades, conditional requests that only the origin can judge. Nothing is kept. A client that takes its time, with the request's
/// content or with the answer's, holds no place at the origin (``RequestIntake``, ``AnswerBuffer``); beyond their limits backpressure
/// goes both ways.
final class ForwardExchange: Exchange, OriginExchangeDelegate, BodySource, AnswerBufferHolder {
  /// How long a client that expects `100 (Continue)` waits for the origin's before pawl gives its own.
  private static let continuePatience = Duration.seconds(1)

  let request: IncomingRequest
  let channel: any ResponseChannel
  private let bypass: CacheStatus?
  @exclusivity(unchecked) var state = ForwardState()
  var origin: OriginExchange?
  let spooled: SpooledContent?
  private let isStream: Bool
  var feed: FileFeed?
  /// Where content of the request waits; `nil`: it has none, or that is spooled.
  var intake: RequestIntake?
  var intakeTimer: LoopTimer?
  var waitingTrailers: Fields?
  /// Bytes of the request's content so far.
  var received: UInt64 = 0
  private let answer: AnswerBuffer
  private(set) var trailers = Fields()
  private(set) var isLive = false
  /// What a GET would be given, if it still is what the origin has: HEAD says what that is called.
  var stored: StoredResponse?
  /// The same, once the origin has said that it still has it.
  var agreed: StoredResponse?
  private var continueTimer: LoopTimer?
  private var keptAnswer: KeptPostAnswer?
  private let requestTime: Int64
  weak var consumer: (any BodyConsumer)?

  /// - Parameters:
  ///   - content: the request's, where it has been taken in already.
  ///   - isStream: the origin is to have the content as it comes.
  init(
    _ request: IncomingRequest, channel: any ResponseChannel, why reason: CacheStatus.ForwardReason?,
    content: SpooledContent? = nil, isStream: Bool = false
  ) {
    (self.request, self.channel, spooled, self.isStream) = (request, channel, content, isStream)
    answer = AnswerBuffer(for: request)
    requestTime = request.loop.loop.wallSeconds
    bypass = request.head.method.isRetrieval ? reason.map { CacheStatus(fwd: $0) } : nil
    answer.holder = self
  }

  func start() {
    guard !OriginRequests.isLoop(request.head.fields) else {
      return fail(ProxyError(.proxyLoopDetected))
    }
    if case .length(let count) = request.head.framing, count > maxUpload { return refuseContent() }
    request.record.cacheOutcome = bypass == nil ? "-" : "bypass"
    request.record.upstream = request.route.upstreamName
    guard spooled == nil, request.head.framing != .none, request.head.framing != .length(0) else {
      return ask(.passThrough)
    }
    holdBack(!isStream && request.route.buffersRequests && RequestIntake.waits(request.head))
  }

  /// Until the content is here, or for this turn: it may come with the head.
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

  /// A client that falls silent before its content is here may wait for the origin to say something.
  private func expectContent() {
    let timer = request.loop.loop.makeTimer { [weak self] in
      if self?.state.isHeld == true { self?.ask(.upload) }
    }
    intakeTimer = timer
    timer.schedule(after: RequestIntake.silence)
  }

  /// Asks for a place at the origin.
  /// - Parameter atOnce: it may be had within this call, and it is connected then.
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
      head: head, use: use, isUpgrade: isUpgrade, holder: PlaceAccount.holder(of: request))
    if wantsContinue, continueTimer == nil { armContinue() }
    let pool = request.loop.pool(for: request.route.upstream)
    let exchange = atOnce ? pool.prepare(asked, delegate: self) : pool.start(asked, delegate: self)
    origin = exchange
    if atOnce { exchange.begin() }
    if use == .upload, !state.isConnected { watchQueue() }
  }

  /// A request that waits long for a place is gathered meanwhile.
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

  /// `Upgrade: h2c` is never passed on (protocols 8.1, row 41).
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
    if let error = ProxyError.unasked(head.status, to: request.head.method, asks: request.head.fields.contains) {
      originEnds()
      exchange.cancel()
      return fail(error)
    }
    guard request.rangeCoding.takesPart(head),
      head.status != 206 || !AnswerCoding.mayBeHeldCoded(head.fields, by: request)
    else { return askForWhole(instead: exchange) }
    if request.route.uploads != nil, request.head.fields.contains(.tusResumable) {
      OriginLesson.learn(passed: request, head)
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
    keptAnswer = KeptPostAnswer(to: request, head, framing, requestTime: requestTime)
    state.answerBegins()
    isLive = exchange.isLive
    let (answered, length) = (reply, length(head, framing))
    request.loop.invalidate(after: request, answer: head) { [weak self] in
      guard let self, self.state.givesAnswer else { return }
      self.keptAnswer?.invalidated()
      self.give(answered, length, hasBody: framing != .none)
    }
  }

  /// Of what came no byte can be put behind what the client holds.
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
    let flow = answer.append(bytes)
    keptAnswer?.append(bytes)
    if flow == .pause { exchange.pause() }
    if !exchange.isDelivering || answer.count >= AnswerBuffer.lowWater { consumer?.bodyIsReady() }
  }

  func exchangeDelivered(_ exchange: OriginExchange) { consumer?.bodyIsReady() }

  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) {
    originEnds()
    state.answerEnds()
    self.trailers = Trailers.relayed(trailers)
    keptAnswer?.ended()
    consumer?.bodyIsReady()
  }

  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) { broke(failure.error) }

  /// There will be no answer, or no more of it.
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
  /// What the origin still says to an answered request ends by itself: the connection may be used again.
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

  /// There is none any more, or what it says is of no use.
  func originEnds() {
    origin = nil
    state.originEnds()
  }
}
