import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream
import PawlWire

/// One GET's content, or a span of it, however often the origin breaks off: reconnects, asks for the rest or
/// replays and compares, and hands on only bytes that provably continue what it handed on before.
/// Where it is says ``OriginFetchState``, what an attempt asks for ``FetchAttempts``; this performs them. Lives on one loop.
final class OriginFetch: OriginExchangeDelegate {
  /// Who is told. Let go of at the end, or by ``dismiss()``: each of the two may hold the other until then.
  enum Taker {
    case head(any FetchHeadSink)
    case body(any FetchBodySink)
    case nobody
  }

  /// On whose behalf it is; its tally is kept.
  let request: IncomingRequest
  let services: LoopServices
  var route: RouteSettings { request.route }
  /// What the first request is made of; ``ResumptionRequest`` makes the others of it.
  let base: RequestHead
  private let use: OriginUse
  @exclusivity(unchecked) private var taker: Taker
  var sink: (any FetchBodySink)? { if case .body(let sink) = taker { sink } else { nil } }

  @exclusivity(unchecked) var state = OriginFetchState()
  @exclusivity(unchecked) var attempts: FetchAttempts
  @exclusivity(unchecked) var exchange: OriginExchange?
  /// What the first answer said of the representation, read when the origin breaks off.
  @exclusivity(unchecked) var first: FirstAnswer?
  var identity: RepresentationIdentity? { nodes?.identity ?? first?.identity }
  /// Which of several URLs has what is being fetched; `nil`: there is one.
  let nodes: FetchNodes?
  var total: UInt64? { first?.total }
  private(set) var spanStart: UInt64 = 0
  private(set) var spanEnd: UInt64?
  /// The next byte that was never handed on.
  @exclusivity(unchecked) var frontier: UInt64 = 0
  /// The next byte of the answer being read.
  @exclusivity(unchecked) var position: UInt64 = 0
  @exclusivity(unchecked) var undelivered: [UInt8] = []
  private var timer: LoopTimer?
  /// What stood behind the whole content; nothing where that was put together from parts.
  private(set) var trailers = Fields()

  /// - Parameter base: what is sent; ``start(adding:)`` adds to it.
  init(for request: IncomingRequest, base: consuming RequestHead, use: OriginUse, for taker: Taker) {
    (self.request, services, self.use, self.taker) = (request, request.loop, use, taker)
    self.base = base
    let route = request.route
    nodes = route.nodeCount > 1 ? FetchNodes(count: route.nodeCount) : nil
    attempts = FetchAttempts(
      attemptLimit: route.resumeAttempts, replayFactor: UInt64(max(0, route.replayLimit)), nodes: route.nodeCount)
  }

  var originRefusesRanges: Bool { attempts.progress.originRefusesRanges }
  var isEnded: Bool { state.isEnded }
  /// Whether its answer goes on as long as somebody listens.
  var isLive: Bool { exchange?.isLive ?? false }

  /// Another is told from now on.
  func hand(to taker: Taker) { self.taker = taker }

  /// Sends the request with `extra` fields (conditions, a range) put in.
  func start(adding extra: [(FieldName, [UInt8])]) {
    guard !extra.isEmpty else { return ask(base) }
    var head = base
    for (name, value) in extra { head.fields.set(name, value) }
    ask(head)
  }

  /// Starts with a representation that is known already, in its middle or to compare it; takes only what looks the same.
  func start(span: Range<UInt64>, of identity: RepresentationIdentity, asking decision: ResumeDecision?) {
    guard let decision else { return fail(.gaveUp("no-strong-validator")) }
    goOn(from: span.lowerBound, since: span.lowerBound, through: span.upperBound, of: identity, asking: decision)
  }

  /// Goes on at `frontier` with what somebody has from `start` on, and can compare with what comes again.
  func goOn(
    from frontier: UInt64, since start: UInt64, through end: UInt64?, of identity: RepresentationIdentity,
    asking decision: ResumeDecision
  ) {
    first = FirstAnswer(identity)
    (spanStart, spanEnd, self.frontier) = (start, end, frontier)
    attempts.progress.began(at: frontier)
    perform(decision)
  }

  func ask(_ head: consuming RequestHead) {
    guard state.asks() == .goOn else { return endImpossibly() }
    // A fill is nobody's.
    let holder = use == .fill ? PlaceHolder.nobody : PlaceAccount.holder(of: request)
    var asked = OriginRequest(head: head, use: use, holder: holder)
    asked.preferredURL = nodes?.preferred
    exchange = services.pool(for: route.upstream).start(asked, delegate: self)
  }

  /// The sink takes the content that begins at `start`; `end` (exclusive) where the answer is a span.
  func accept(_ answer: FirstAnswer, from start: UInt64, through end: UInt64?) {
    guard state.isAccepting else { return }
    first = answer
    (spanStart, spanEnd, frontier, position) = (start, end, start, start)
    // An answer without content is over already.
    if state.accepted() == .conclude { answerIsOver() } else { exchange?.resume() }
  }

  /// All of the content, where it came with the head: while the sink is told of that, and valid as long. The fetch is over
  /// with it, and never goes on after a break. `nil`: it is to be accepted, and comes in pieces.
  func takeContent() -> UnsafeRawBufferPointer? {
    guard state.isAccepting, let content = exchange?.takeContent() else { return nil }
    request.tally.received += UInt64(content.count)
    state.ends()
    (exchange, taker) = (nil, .nobody)
    return content
  }

  /// The span ends earlier: somebody else fetches, or holds, what follows.
  func shorten(to end: UInt64) {
    guard end > frontier, end < spanEnd ?? .max else { return }
    spanEnd = end
  }

  /// After ``shorten(to:)``: nobody else brings what follows.
  func lengthen(to end: UInt64) {
    guard let spanEnd, end > spanEnd, !isEnded else { return }
    self.spanEnd = end == .max ? nil : end
  }

  func pause() {
    state.pauses()
    exchange?.pause()
  }

  func resume() {
    if state.resumes() == .goOn { drain() }
  }

  /// The sink has what it wants, an answer without content; the exchange ends by itself, and its connection lives on.
  func dismiss() {
    taker = .nobody
    exchange?.resume()
  }

  /// Whether more is about to be handed on, or the end, within the same call; ``FetchBodySink/fetchDelivered(_:)`` comes
  /// after it.
  var isDelivering: Bool { exchange?.isDelivering ?? false }

  func exchangeDelivered(_ exchange: OriginExchange) {
    if state.isReading { sink?.fetchDelivered(self) }
  }

  /// Ends it without a word to the sink.
  func cancel() {
    guard !state.isEnded else { return }
    state.ends()
    taker = .nobody
    timer?.cancel()
    dropExchange()
    undelivered = []
  }

  // MARK: - The answer

  func exchangeConnected(_ exchange: OriginExchange) {}
  func exchangeWantsBody(_ exchange: OriginExchange) {}
  func exchange(
    _ exchange: OriginExchange, upgraded stream: SocketStream, head: ResponseHead, leftover: [UInt8]
  ) { stream.close() }

  func exchange(_ exchange: OriginExchange, interim head: ResponseHead) {
    if case .head(let sink) = taker { sink.fetch(self, interim: head) }
  }

  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming) {
    nodes?.answers(exchange.url)
    if let asked = attempts.asked, let identity { return judge(head, framing, to: asked, of: identity) }
    guard state.receivedHead(goesOn: false) == .goOn else { return endImpossibly() }
    nodes?.answered(by: exchange.url)
    if case .head(let sink) = taker { sink.fetch(self, head: head, framing: framing) }
    // Who takes it at once gets what came with it at once.
    guard state.isAccepting, framing != .none else { return }
    if case .nobody = taker { return }
    exchange.pause()
  }

  /// The answer goes on with what is held, from `start` on.
  /// - Returns: `false` where it cannot come here.
  func reads(from start: UInt64) -> Bool {
    guard state.receivedHead(goesOn: true) == .goOn else { return false }
    position = start
    if state.isPaused { exchange?.pause() }
    return true
  }

  // MARK: - Its end

  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) {
    self.exchange = nil
    self.trailers = state.hasBroken ? Fields() : Trailers.relayed(trailers)
    switch state.answerEnded(hasMore: !undelivered.isEmpty) {
    case .conclude: answerIsOver()
    case .impossible: endImpossibly()
    case .nothing, .goOn, .breakOff, .tellNoAnswer: break
    }
  }

  func answerIsOver() {
    if position < frontier { return isAnother("shorter-than-before") }
    let expected = spanEnd ?? total
    if let expected, frontier < expected {
      attempts.ended("ended-early", .brokeOff)
      return brokeOff()
    }
    end()
  }

  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) {
    self.exchange = nil
    attempts.ended(failure.error.kind.rawValue, AttemptEnding(failure))
    switch state.broke(hasMore: !undelivered.isEmpty, beforeAnyAnswer: first == nil) {
    case .breakOff: brokeOff()
    case .tellNoAnswer:
      let taker = taker
      cancel()
      if case .head(let sink) = taker { sink.fetch(self, gotNoAnswer: failure) }
    case .impossible: endImpossibly()
    case .nothing, .goOn, .conclude: break
    }
  }

  /// After what cannot come where it is. Whoever waits is told.
  func endImpossibly() {
    guard case .head(let sink) = taker else { return fail(.gaveUp("internal-error")) }
    cancel()
    sink.fetch(
      self,
      gotNoAnswer: OriginFailure(error: ProxyError(.proxyInternalError), beforeHead: true, requestBytesSent: true))
  }

  func waitToAsk(_ delay: Duration, _ ask: @escaping (OriginFetch) -> Void) {
    undelivered = []
    state.backsOff()
    let timer = services.loop.makeTimer { [weak self] in self.map(ask) }
    self.timer = timer
    timer.schedule(after: delay)
  }

  func dropExchange() {
    exchange?.cancel()
    exchange = nil
  }

  func end() {
    state.ends()
    let sink = sink
    taker = .nobody
    sink?.fetchEnded(self, at: frontier)
  }

  func fail(_ failure: FetchFailure) {
    guard !state.isEnded else { return }
    let sink = sink
    cancel()
    sink?.fetchFailed(self, failure)
  }
}
