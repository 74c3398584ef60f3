import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream
import PawlWire

/// One GET's content, or a span of it, however often the origin breaks off: reconnects, asks for the rest or
/// replays and compares, and hands on only octets that provably continue what it handed on before.
/// The decisions are ``decideResume`` and ``judgeContinuation``; this performs them. Lives on one loop.
final class OriginFetch: OriginExchangeDelegate {
  enum Phase { case asking, accepting, receiving, backingOff, ended }

  /// On whose behalf it is; its tally is kept.
  let request: IncomingRequest
  let owner: LoopServices
  private var route: RouteSettings { request.route }
  /// What the first request is made of; ``ResumptionRequest`` makes the others of it.
  let base: RequestHead
  private let use: OriginUse
  /// Let go of at the end, or by ``dismiss()``: each of the two may hold the other until then.
  var sink: (any OriginFetchSink)?

  private var phase = Phase.asking
  private var exchange: OriginExchange?
  /// What the first answer said of the representation, read when the origin breaks off.
  private var first: FirstAnswer?
  private var identity: RepresentationIdentity? { first?.identity }
  var total: UInt64? { first?.total }
  private(set) var spanStart: UInt64 = 0
  private(set) var spanEnd: UInt64?
  /// The next octet that was never handed on.
  private(set) var frontier: UInt64 = 0
  /// The next octet of the answer being read.
  private var position: UInt64 = 0
  private var asked: ResumeDecision?
  private var progress: ResumeProgress
  private var replayedInAttempt: UInt64 = 0
  private var undelivered: [UInt8] = []
  private var isComparing = false
  private var answerEnded = false
  private var sinkPaused = false
  private var timer: LoopTimer?
  private var (lastFailure, lastEnding) = ("closed", AttemptEnding.brokeOff)
  /// What stood behind the whole content; nothing where that was put together from parts.
  private(set) var trailers = Fields()

  /// - Parameter base: what is sent; ``start(adding:)`` adds to it.
  init(for request: IncomingRequest, base: consuming RequestHead, use: OriginUse, sink: any OriginFetchSink) {
    (self.request, owner, self.use, self.sink) = (request, request.loop, use, sink)
    self.base = base
    let route = request.route
    progress = ResumeProgress(
      held: 0, attemptLimit: route.resumeAttempts, replayFactor: UInt64(max(0, route.replayLimit)))
  }

  var originRefusesRanges: Bool { progress.originRefusesRanges }
  var isEnded: Bool { phase == .ended }

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
    progress.began(at: frontier)
    perform(decision)
  }

  private func ask(_ head: consuming RequestHead) {
    phase = .asking
    answerEnded = false
    // A fill is nobody's.
    let holder = use == .fill ? PlaceHolder.nobody : PlaceAccount.holder(of: request)
    exchange = owner.pool(for: route.upstream)
      .start(OriginRequest(head: head, use: use, holder: holder), delegate: self)
  }

  /// The sink takes the content that begins at `start`; `end` (exclusive) where the answer is a span.
  func accept(_ answer: FirstAnswer, from start: UInt64, through end: UInt64?) {
    guard phase == .accepting else { return }
    first = answer
    (spanStart, spanEnd, frontier, position) = (start, end, start, start)
    phase = .receiving
    // An answer without content is over already.
    if answerEnded { answerIsOver() } else { exchange?.resume() }
  }

  /// All of the content, where it came with the head: while the sink is told of that, and valid as long. The fetch is over
  /// with it, and never goes on after a break. `nil`: it is to be accepted, and comes in pieces.
  func takeContent() -> UnsafeRawBufferPointer? {
    guard phase == .accepting, let content = exchange?.takeContent() else { return nil }
    request.tally.received += UInt64(content.count)
    (phase, exchange, sink) = (.ended, nil, nil)
    return content
  }

  /// The span ends earlier: somebody else fetches, or holds, what follows.
  func shorten(to end: UInt64) {
    guard end > frontier, end < spanEnd ?? .max else { return }
    spanEnd = end
  }

  func pause() {
    sinkPaused = true
    exchange?.pause()
  }

  func resume() {
    guard sinkPaused else { return }
    sinkPaused = false
    guard !isComparing else { return }
    drain()
  }

  /// The sink has what it wants, an answer without content; the exchange ends by itself, and its connection lives on.
  func dismiss() {
    sink = nil
    exchange?.resume()
  }

  /// Whether more is about to be handed on, or the end, within the same call; ``OriginFetchSink/fetchDelivered(_:)`` comes
  /// after it.
  var isDelivering: Bool { exchange?.isDelivering ?? false }

  func exchangeDelivered(_ exchange: OriginExchange) {
    if phase == .receiving { sink?.fetchDelivered(self) }
  }

  /// Ends it without a word to the sink.
  func cancel() {
    guard phase != .ended else { return }
    phase = .ended
    sink = nil
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
    if asked == nil { sink?.fetch(self, interim: head) }
  }

  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming) {
    guard let asked, let identity else {
      phase = .accepting
      sink?.fetch(self, head: head, framing: framing)
      // Who takes it at once gets what came with it at once.
      if phase == .accepting, sink != nil, framing != .none { exchange.pause() }
      return
    }
    switch judgeContinuation(
      asked: asked, identity: identity, answer: head, framing: framing,
      canReplay: canReplay(spanStart: spanStart, prefix: heldPrefix))
    {
    case .append(let from): continueBody(from: from, head: head, framing: framing)
    case .replay: continueBody(from: 0, head: head, framing: framing)
    case .complete:
      dropExchange()
      end()
    // What an origin refuses to one who asks for a part says nothing of the others' bytes.
    case .changed(let why) where why.isAboutAsker && !hasBroken && frontier == spanStart:
      fail(.narrower(why.rawValue))
    // Nor does it to one who asks again; what is held stays.
    case .changed(let why) where why.isAboutAsker: fail(.gaveUp(why.rawValue))
    case .changed(let why): fail(.changed(why.rawValue))
    case .tryAgain:
      dropExchange()
      (lastFailure, lastEnding) = ("status-\(head.status)", AttemptEnding(status: head.status))
      attemptFailed()
    case .rangesRefused:
      dropExchange()
      lastEnding = .notBegun
      progress.originRefusesRanges = true
      attemptFailed()
    }
  }

  private func continueBody(from: UInt64, head: ResponseHead, framing: BodyFraming) {
    if let objection = sink?.fetch(self, objectsTo: head) { return fail(.narrower(objection)) }
    position = from
    phase = .receiving
    if hasBroken { request.tally.resumes += 1 }
    if case .askForRest = asked, head.status == 200 { progress.originRefusesRanges = true }
    if sinkPaused { exchange?.pause() }
    defer { sink?.fetchContinues(self) }
    guard hasBroken else { return }
    owner.events.log(
      .notice, "origin-resumed",
      [
        "upstream": route.upstreamName, "target": base.target.text, "at": "\(frontier)", "from": "\(from)",
        "how": from == 0 && frontier > 0 ? "replay" : "range", "after": lastFailure,
        "attempt": "\(progress.attemptsWithoutProgress)",
      ])
  }

  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer) {
    guard phase == .receiving else { return }
    request.tally.received += UInt64(bytes.count)
    if isComparing || !undelivered.isEmpty || sinkPaused {
      undelivered.append(contentsOf: bytes)
      return exchange.pause()
    }
    let used = take(bytes)
    if used < bytes.count, phase == .receiving {
      undelivered.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[used...]))
    }
  }

  /// Compares what is old, hands on what is new; returns how many octets were used before it has to wait.
  private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    var used = 0
    while used < bytes.count, phase == .receiving, !isComparing, !sinkPaused {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
      used += position < frontier ? compare(rest) : deliver(rest)
    }
    return used
  }

  private func compare(_ bytes: UnsafeRawBufferPointer) -> Int {
    let count = Int(min(UInt64(bytes.count), frontier - position))
    request.tally.replayed += UInt64(count)
    replayedInAttempt += UInt64(count)
    let part = UnsafeRawBufferPointer(rebasing: bytes[..<count])
    let offset = position
    position += UInt64(count)
    switch sink?.fetch(self, compare: part, at: offset) ?? .different {
    case .equal: break
    case .different: contentDiffers(at: offset)
    case .later:
      isComparing = true
      exchange?.pause()
    }
    return count
  }

  func compared(equal: Bool) {
    guard isComparing else { return }
    isComparing = false
    guard equal else { return contentDiffers(at: position) }
    drain()
  }

  private func contentDiffers(at offset: UInt64) { fail(.changed("content-differs-before-\(offset + 1)")) }

  private func deliver(_ bytes: UnsafeRawBufferPointer) -> Int {
    let wanted = spanEnd.map { $0 - frontier } ?? .max
    let count = Int(min(UInt64(bytes.count), wanted))
    let part = UnsafeRawBufferPointer(rebasing: bytes[..<count])
    let offset = frontier
    frontier += UInt64(count)
    position = frontier
    if hasBroken { request.tally.resumed += UInt64(count) }
    if count > 0, sink?.fetch(self, bytes: part, at: offset) == .pause { pause() }
    guard phase == .receiving else { return bytes.count }
    if let spanEnd, frontier >= spanEnd, total != spanEnd || count < bytes.count {
      dropExchange()
      end()
      return bytes.count
    }
    return count
  }

  /// Goes on with what had to wait.
  private func drain() {
    guard phase == .receiving else { return }
    if !undelivered.isEmpty {
      let bytes = undelivered
      undelivered = []
      let used = bytes.withUnsafeBytes { take($0) }
      guard phase == .receiving else { return }
      if used < bytes.count { undelivered = Array(bytes[used...]) + undelivered }
    }
    guard !isComparing, !sinkPaused, undelivered.isEmpty else { return }
    if answerEnded { return answerIsOver() }
    exchange?.resume()
  }

  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) {
    self.exchange = nil
    answerEnded = true
    self.trailers = hasBroken ? Fields() : Trailers.relayed(trailers)
    if phase == .receiving, !isComparing, undelivered.isEmpty { answerIsOver() }
  }

  private func answerIsOver() {
    if brokenWhileWaiting { return brokeOff() }
    if position < frontier { return fail(.changed("shorter-than-before")) }
    let expected = spanEnd ?? total
    if let expected, frontier < expected {
      (lastFailure, lastEnding) = ("ended-early", .brokeOff)
      return brokeOff()
    }
    end()
  }

  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) {
    self.exchange = nil
    (lastFailure, lastEnding) = (failure.error.kind.rawValue, AttemptEnding(failure))
    guard phase != .ended else { return }
    if asked == nil, first == nil { return fail(.noAnswer(failure)) }
    if !undelivered.isEmpty || isComparing {
      // What came before the break still counts; the break is dealt with when it is used up.
      answerEnded = true
      brokenWhileWaiting = true
      return
    }
    brokeOff()
  }

  private var brokenWhileWaiting = false
  /// The first answer to a span is no resumption.
  private var hasBroken = false

  // MARK: - Breaks

  private func brokeOff() {
    hasBroken = true
    // What came with the break need not wait for what comes after it.
    sink?.fetchDelivered(self)
    owner.events.log(
      .notice, "origin-broke",
      [
        "upstream": route.upstreamName, "target": base.target.text, "at": "\(frontier)", "why": lastFailure,
      ])
    attemptFailed()
  }

  private func attemptFailed() {
    guard phase != .ended else { return }
    undelivered = []
    isComparing = false
    answerEnded = false
    brokenWhileWaiting = false
    guard first?.isFinal == false else { return fail(.gaveUp("\(lastFailure), cannot-be-resumed")) }
    guard let identity, sink?.fetchIsWanted(self) == true else { return fail(.gaveUp("not-wanted")) }
    progress.attemptEnded(held: frontier, replayed: replayedInAttempt, total: identity.total, ending: lastEnding)
    replayedInAttempt = 0
    let decision = decideResume(
      held: frontier, spanStart: spanStart, prefix: heldPrefix, identity: identity, progress: progress)
    if case .giveUp(let why) = decision { return fail(.gaveUp("\(lastFailure), \(why)")) }
    phase = .backingOff
    let delay = backoff(attempt: progress.attemptsWithoutProgress, jitter: Randomness.uint64())
    let timer = owner.loop.makeTimer { [weak self] in self?.perform(decision) }
    self.timer = timer
    timer.schedule(after: delay)
  }

  /// What the sink can compare a body from zero with.
  private var heldPrefix: UInt64 { spanStart == 0 ? 0 : sink?.fetchHeldPrefix(self) ?? 0 }

  private func perform(_ decision: ResumeDecision) {
    guard phase != .ended else { return }
    asked = decision
    if case .giveUp = decision { return }
    ask(ResumptionRequest.head(base, decision, through: spanEnd, of: identity))
  }

  private func dropExchange() {
    exchange?.cancel()
    exchange = nil
  }

  private func end() {
    phase = .ended
    let sink = sink
    self.sink = nil
    sink?.fetchEnded(self, at: frontier)
  }

  private func fail(_ failure: FetchFailure) {
    guard phase != .ended else { return }
    let sink = sink
    cancel()
    sink?.fetchFailed(self, failure)
  }
}
