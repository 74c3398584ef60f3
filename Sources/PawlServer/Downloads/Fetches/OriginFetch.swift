import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream
import PawlWire

/// Fetches the content of one GET, or a span of it, however often the origin breaks off. It reconnects, asks for the rest or replays and
/// compares, and delivers only bytes that are proven to continue the delivered ones. ``OriginFetchState`` has its state, ``FetchAttempts``
/// decides what an attempt asks for; this class makes the attempts. Lives on one loop.
final class OriginFetch: OriginExchangeDelegate {
  /// The sink of a fetch. The fetch releases it at the end, or in ``dismiss()``; until then fetch and sink may keep each other in memory.
  enum Taker {
    case head(any FetchHeadSink)
    case body(any FetchBodySink)
    case nobody
  }

  /// The request on whose behalf the fetch runs; its tally counts the bytes.
  let request: IncomingRequest
  let services: LoopServices
  var route: RouteSettings { request.route }
  /// What the loop counts for the upstream.
  var counters: UpstreamCounters { services.counters(of: route.upstream) }
  /// The head of the first request; ``ResumptionRequest`` makes the later ones from it.
  let base: RequestHead
  private let use: OriginUse
  @exclusivity(unchecked) private var taker: Taker
  var sink: (any FetchBodySink)? { if case .body(let sink) = taker { sink } else { nil } }

  @exclusivity(unchecked) var state = OriginFetchState()
  @exclusivity(unchecked) var attempts: FetchAttempts
  @exclusivity(unchecked) var exchange: OriginExchange?
  /// The description of the representation in the first response, read when the origin breaks off.
  @exclusivity(unchecked) var first: FirstResponse?
  var identity: RepresentationIdentity? { nodes?.identity ?? first?.identity }
  /// The nodes of the upstream; `nil` if the upstream has only one.
  let nodes: FetchNodes?
  var total: UInt64? { first?.total }
  private(set) var spanStart: UInt64 = 0
  private(set) var spanEnd: UInt64?
  /// The offset after the last delivered byte.
  @exclusivity(unchecked) var frontier: UInt64 = 0
  /// The offset of the next byte of the response that is being read.
  @exclusivity(unchecked) var position: UInt64 = 0
  /// How often the fetch went on after a break.
  var resumes = 0
  @exclusivity(unchecked) var undelivered: [UInt8] = []
  private var timer: LoopTimer?
  /// What the sink does about a response that did not come; for the log.
  var remedy: OriginTrouble.Next?
  /// The trailers of the content; empty if the content was put together from several responses.
  private(set) var trailers = Fields()

  /// - Parameter base: the head that is sent; ``start(adding:)`` adds fields to a copy of it.
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
  /// Whether the response is a live stream, which goes on as long as it has a client.
  var isLive: Bool { exchange?.isLive ?? false }

  /// Hands the fetch over to another sink.
  func hand(to taker: Taker) { self.taker = taker }

  /// Sends the request with the `extra` fields (conditions, a range).
  func start(adding extra: [(FieldName, [UInt8])]) {
    guard !extra.isEmpty else { return ask(base) }
    var head = base
    for (name, value) in extra { head.fields.set(name, value) }
    ask(head)
  }

  /// Fetches a span of a representation that is already known. Accepts only responses that match its identity.
  func start(span: Range<UInt64>, of identity: RepresentationIdentity, asking decision: ResumeDecision?) {
    guard let decision else { return fail(.gaveUp("no-strong-validator")) }
    goOn(from: span.lowerBound, since: span.lowerBound, through: span.upperBound, of: identity, asking: decision)
  }

  /// Continues a content at `frontier`. The sink has the bytes from `start` up to `frontier`, and can compare them with bytes that come
  /// again.
  func goOn(
    from frontier: UInt64, since start: UInt64, through end: UInt64?, of identity: RepresentationIdentity,
    asking decision: ResumeDecision
  ) {
    first = FirstResponse(identity)
    (spanStart, spanEnd, self.frontier) = (start, end, frontier)
    attempts.progress.began(at: frontier)
    perform(decision)
  }

  func ask(_ head: consuming RequestHead) {
    guard state.asks() == .goOn else { return endImpossibly() }
    // A fill does not belong to one client, so its place does not count against the share of a client.
    let holder = use == .fill ? PlaceHolder.nobody : PlaceMarks.holder(of: request)
    var asked = OriginRequest(head: head, use: use, holder: holder)
    asked.preferredURL = nodes?.preferred
    exchange = services.pool(for: route.upstream).start(asked, delegate: self)
  }

  /// Begins to deliver the content of the first response, which begins at `start`. `end` (exclusive) is set if the response has only a span
  /// of the content.
  func accept(_ answer: FirstResponse, from start: UInt64, through end: UInt64?) {
    guard state.isAccepting else { return }
    first = answer
    (spanStart, spanEnd, frontier, position) = (start, end, start, start)
    // A response without content is over already.
    if state.accepted() == .conclude { answerIsOver() } else { exchange?.resume() }
  }

  /// Returns the complete content, if all of it came with the head. Call this only while the sink is called with that head, and use the
  /// bytes only until that call returns. The fetch is then over, and is never continued after a break. `nil`: the content comes in pieces;
  /// call ``accept(_:from:through:)``.
  func takeContent() -> UnsafeRawBufferPointer? {
    guard state.isAccepting, let content = exchange?.takeContent() else { return nil }
    request.tally.received += UInt64(content.count)
    services.counters.add(.fromOriginNew, UInt64(content.count))
    state.ends()
    (exchange, taker) = (nil, .nobody)
    return content
  }

  /// Lets the span end earlier, at `end`, because the bytes after `end` are held, or another fill brings them.
  func shorten(to end: UInt64) {
    guard end > frontier, end < spanEnd ?? .max else { return }
    spanEnd = end
  }

  /// Lets the span end later again, after ``shorten(to:)``, because no other fill brings the bytes after its present end.
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

  /// Releases the sink after a response without content. The exchange ends by itself, and its connection can be used again.
  func dismiss() {
    taker = .nobody
    exchange?.resume()
  }

  /// Whether more bytes, or the end, follow at once: the exchange is still handing over what came together.
  /// ``FetchBodySink/fetchDelivered(_:)`` is called after them.
  var isDelivering: Bool { exchange?.isDelivering ?? false }

  func exchangeDelivered(_ exchange: OriginExchange) {
    if state.isReading { sink?.fetchDelivered(self) }
  }

  /// Ends the fetch without calling the sink.
  func cancel() {
    guard !state.isEnded else { return }
    state.ends()
    taker = .nobody
    timer?.cancel()
    dropExchange()
    dropUndelivered()
  }

  private func dropUndelivered() {
    wasted(undelivered.count)
    undelivered = []
  }

  // MARK: - The response

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
    request.collect(exchange, status: head.status)
    if let asked = attempts.asked, let identity { return judge(head, framing, to: asked, of: identity) }
    guard state.receivedHead(goesOn: false) == .goOn else { return endImpossibly() }
    nodes?.answered(by: exchange.url)
    if case .head(let sink) = taker { sink.fetch(self, head: head, framing: framing) }
    // If the sink has accepted the response by now, it gets the bytes that came with the head. Otherwise reading pauses until it accepts.
    guard state.isAccepting, framing != .none else { return }
    if case .nobody = taker { return }
    exchange.pause()
  }

  /// Notes that the response continues the held content from `start` on.
  /// - Returns: `false` if no response can come in this state.
  func reads(from start: UInt64) -> Bool {
    guard state.receivedHead(goesOn: true) == .goOn else { return false }
    position = start
    if state.isPaused { exchange?.pause() }
    return true
  }

  // MARK: - Its end

  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) {
    request.collectEnd(exchange)
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
      counters.addDefect(.truncated)
      attempts.ended("ended-early", .brokeOff)
      brokeOff()
      return
    }
    end()
  }

  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) {
    self.exchange = nil
    failure.beforeHead ? request.collect(exchange, status: 0) : request.collectEnd(exchange)
    attempts.ended(failure.error.kind.rawValue, AttemptEnding(failure))
    switch state.broke(hasMore: !undelivered.isEmpty, beforeAnyAnswer: first == nil) {
    case .breakOff:
      // The same words as those of `origin-broke`.
      exchange.remedy = .other(brokeOff())
    case .tellNoAnswer:
      let taker = taker
      cancel()
      if case .head(let sink) = taker { sink.fetch(self, gotNoAnswer: failure) }
      exchange.remedy = remedy ?? .answers(failure.error.status)
    case .impossible: endImpossibly()
    case .nothing, .goOn, .conclude:
      exchange.remedy = .other("uses what came before it; then origin-broke says what is next")
    }
  }

  /// Ends the fetch after an event that is impossible in the present state (a defect of pawl). The sink gets a failure.
  func endImpossibly() {
    guard case .head(let sink) = taker else { return fail(.gaveUp("internal-error")) }
    cancel()
    sink.fetch(
      self,
      gotNoAnswer: OriginFailure(error: ProxyError(.proxyInternalError), beforeHead: true, requestBytesSent: true))
  }

  func waitToAsk(_ delay: Duration, _ ask: @escaping (OriginFetch) -> Void) {
    dropUndelivered()
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
