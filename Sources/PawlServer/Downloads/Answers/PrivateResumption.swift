import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlUpstream
import PawlWire

extension DownloadExchange {
  /// Looks for a response that `resume-private` has kept. It is found only by the random tag that pawl gave with it, and only for its own
  /// URL. Its owner gets it without a question to the origin (``PrivateOwner``); for other requests the origin is asked
  /// (``PrivateResumption``).
  /// - Returns: whether the answer waits for the search. If nothing is found, the exchange goes on by itself.
  func asksPrivately() -> Bool {
    guard request.head.method == .get, request.head.fields.contains(.range), request.route.policy.resumePrivate != nil,
      case .tag(let tag)? = IfRange(request.head.fields), !tag.isWeak, AnswerTags.isMinted(tag)
    else { return false }
    store.findPrivate(tag: tag.opaque, on: request.loop.loop) { [weak self] found in
      guard let self, self.state.hears(.loaded) else { return }
      guard let found else { return self.look() }
      let asker = PrivateOwner(self.request)
      switch Self.access(to: found, for: asker) {
      case .opened(let opened): self.open(opened, for: asker)
      case .asked where found.personal?.owner == asker.bytes: self.openOnceProven(found, for: asker)
      case .asked: PrivateResumption.start(self, of: found, for: asker)
      case .none: self.look()
      }
    }
    return true
  }

  private enum PrivateAccess {
    case opened(StoredResponse)
    case asked, none
  }

  private static func access(to found: StoredResponse, for asker: PrivateOwner) -> PrivateAccess {
    guard let personal = found.personal, let owner = PrivateOwner(bytes: personal.owner) else { return .none }
    switch owner.access(for: asker) {
    case .none: return .none
    case .open: return .opened(found)
    case .ask:
      let granted = found.grants.first { PrivateOwner(bytes: $0.owner)?.access(for: asker) == .open }
      return granted.map { .opened(found.with(head: $0.head)) } ?? .asked
    }
  }
}

/// Asks the origin about a kept private body, which a request names by its tag. The body was kept for another user, for other cookies, or
/// for a user that cannot be recognised; so the origin is asked with the request's own cookies and credentials. If the origin proves that
/// the bytes are the same, the client gets the rest from the held bytes. Otherwise it gets the origin's complete response, which is judged
/// and kept like any other response. Lives on the exchange's loop.
final class PrivateResumption: FetchHeadSink {
  private weak var exchange: DownloadExchange?
  private let request: IncomingRequest
  private let store: CacheStore
  private let resource: Resource
  private let kept: StoredResponse
  private let asker: PrivateOwner
  private var conditions: [(FieldName, [UInt8])] = []
  private var fetch: OriginFetch?
  private var began = Monotonic(nanoseconds: 0)
  private var comparison: PrivateComparison?
  private var served = Served(arrival: nil, isCollapsed: false)
  private var timer: LoopTimer?

  private var loop: LoopServices { request.loop }

  static func start(_ exchange: DownloadExchange, of kept: StoredResponse, for asker: PrivateOwner) {
    guard let resource = exchange.resource, canProve(to: exchange.request.head) else { return exchange.look() }
    let resumption = PrivateResumption(exchange, resource, of: kept, for: asker)
    exchange.resume(by: resumption)
    // If bytes are missing and no fill brings them, no conditions are sent, because a 304 would not bring the missing bytes.
    resumption.ask(resumption.isThere ? PrivateProof.conditions(for: kept.head) : [])
  }

  /// Whether a request can be answered in this way: it asks for one range, and allows that the origin is asked.
  static func canProve(to request: RequestHead) -> Bool {
    RangeField(request.fields)?.specs.count == 1 && !CacheControl(request.fields).onlyIfCached
  }

  private init(_ exchange: DownloadExchange, _ resource: Resource, of kept: StoredResponse, for asker: PrivateOwner) {
    (self.exchange, request, store) = (exchange, exchange.request, exchange.store)
    (self.resource, self.kept, self.asker) = (resource, kept, asker)
  }

  /// Whether all of the kept body is held, or on its way.
  private var isThere: Bool { kept.body.isComplete || FillCoordinator.isFilling(kept) }

  private func ask(_ conditions: [(FieldName, [UInt8])]) {
    (self.conditions, began) = (conditions, loop.loop.now)
    let fetch = OriginFetch(for: request, base: request.makeSent(), use: .passThrough, for: .head(self))
    self.fetch = fetch
    fetch.start(adding: conditions)
  }

  /// Ends the resumption, because the exchange is over.
  func end() {
    exchange = nil
    timer?.close()
    timer = nil
    fetch?.cancel()
    fetch = nil
    comparison?.clientLeft()
  }

  // MARK: - The origin's answer

  func fetch(_ fetch: OriginFetch, interim head: ResponseHead) { if head.status != 100 { exchange?.interim(head) } }

  func fetch(_ fetch: OriginFetch, head: ResponseHead, framing: BodyFraming) {
    self.fetch = nil
    guard let exchange else { return fetch.cancel() }
    if head.status == 304, !conditions.isEmpty {
      fetch.dismiss()
      return isThere && PrivateProof.isProven(by: head, kept.head) ? proven(by: head) : ask([])
    }
    let judge = resource.withLock { state in
      CollapsedFetch(
        leader: exchange, request: request, of: resource, &state, store: store, downloads: exchange.downloads,
        purpose: .miss, range: nil, reason: .request, isShared: false)
    }
    exchange.enter(.leading(judge))
    judge.adopt(fetch, adding: conditions.map(\.0), since: began, head: head, framing: framing)
  }

  func fetch(_ fetch: OriginFetch, gotNoAnswer failure: OriginFailure) {
    self.fetch = nil
    exchange?.fetchFailed(failure)
  }

  /// Serves the kept body, because the origin has confirmed it to this very request, with a 304 that has the strong tag of the body.
  private func proven(by answer: ResponseHead) {
    let now = loop.loop.wallSeconds
    let asked = now - (loop.loop.now - began).wholeNanoseconds / 1_000_000_000
    let head = PrivateProof.head(
      of: kept.head, confirmedBy: answer, for: request.head, requestTime: asked, responseTime: now,
      asksIdentity: request.asksIdentity)
    grant(head, saying: answer.fields)
    exchange?.serve(
      kept.ofOneRequest(head: head),
      Served(arrival: .validated, isCollapsed: false, setCookies: answer.fields.all(.setCookie)))
  }

  /// Lets the asker have the kept body from now on, without asking the origin again. This requires that a 200 with this head could be kept
  /// for the asker.
  /// - Parameter said: all fields of the response; `head` lacks those that are not stored.
  private func grant(_ head: StoredHead, saying said: Fields) {
    var whole = ResponseHead(status: head.status, fields: head.fields)
    for cookie in said.all(.setCookie) { whole.fields.append(.setCookie, cookie) }
    let storability = Storability.decide(
      request: request.head, response: whole, framing: kept.body.total.map(BodyFraming.length) ?? .chunked,
      policy: request.route.policy, receivedAt: head.responseTime)
    if case .no = storability { return }
    if asker.isRecognisable { kept.grant(asker.bytes, head) }
  }

  // MARK: - Without a confirmation of the origin

  /// Compares the body that the origin gave, which is stored now, with the kept body. The client gets the range that it lacks as soon as
  /// all bytes before the range are found equal.
  /// - Returns: `false` if there is nothing to compare; the new body is then served as it is.
  func compares(_ new: StoredResponse, _ served: Served) -> Bool {
    guard let exchange, comparison == nil, new.body !== kept.body,
      PrivateProof.mayBeEqual(kept.head, total: kept.body.total, new.head, otherTotal: new.body.total)
    else { return false }
    self.served = served
    let isWorthIt = asker.isRecognisable && kept.personal != nil
    let comparison = PrivateComparison(kept, with: new, on: exchange.downloads, goesOnAlone: isWorthIt) {
      [self] outcome in
      decided(outcome, new)
    }
    self.comparison = comparison
    comparison.progressed = { [weak self] in self?.look() }
    let timer = loop.loop.makeTimer { [weak self] in self?.serveNew() }
    timer.schedule(after: DownloadExchange.patience)
    self.timer = timer
    comparison.start()
    return true
  }

  private func decided(_ outcome: PrivateComparison.State, _ new: StoredResponse) {
    if outcome == .equal { grant(new.head, saying: new.head.fields) }
    if outcome == .covered { name(new) }
    let isAboutToBeServed = outcome != .equal && exchange?.channel.hasResponded == false
    let isSpare =
      kept.personal == nil
      ? outcome == .equal : store.privateResponse(tag: new.body.primaryTag)?.body === new.body
    guard !isAboutToBeServed, isSpare else { return }
    // No client has received the tag of the new body, and none will.
    store.forget(new)
    loop.loop.nextTurn { FillCoordinator.existing(new)?.pause("not-wanted") }
  }

  /// Gives the client's tag to the new body, whose beginning equals all that is held of the kept body. The tag then names only the bytes
  /// that were compared. If the origin gave both bodies the same strong tag, the client's tag names as many bytes of the new body as of the
  /// kept one.
  private func name(_ new: StoredResponse) {
    if kept.personal == nil { return takePlace(new) }
    guard case .tag(let tag)? = IfRange(request.head.fields), let limit = kept.body.tagLimit(tag.opaque),
      let compared = comparison?.compared
    else { return }
    let (own, other) = (kept.head.validators.tag, new.head.validators.tag)
    let isOne = own.flatMap { own in other.map(own.matchesStrongly) } ?? false
    new.body.addTag(TagRecord(tag: tag.opaque, limit: isOne ? limit : min(limit, compared)))
  }

  /// Gives the tags of the kept body to the new one, if the kept body is not private and so was found by its URL. If no client was given
  /// more of the kept body than was compared, the new body replaces it. The tags are needed because a client that gets the rest from the
  /// new body may ask again with a tag of the kept body.
  private func takePlace(_ new: StoredResponse) {
    guard let compared = comparison?.compared else { return }
    let reach = kept.body.reach(compared)
    new.body.inheritTags(
      of: kept.body, upTo: reach, isWhole: false, isMinted: { TagRecord.isOwn($0) }, then: {})
    if reach == .max { store.forget(kept) }
  }

  private func look() {
    guard let comparison, let exchange, !exchange.channel.hasResponded else { return }
    let stored = kept.ofOneRequest(head: comparison.new.head)
    switch comparison.state {
    case .different, .covered: return serveNew()
    case .equal: return exchange.serve(stored, served)
    case .comparing where !isThere: return
    case .comparing: break
    }
    let answer = StoredAnswer(stored, request: request, served: served, isOutOfPatience: false)
    switch answer.shape {
    case .needsTotal: break
    case .part(let range):
      // Begin only when at least one byte that the client lacks is proven. So a client that is cut off again and again gets further each
      // time.
      guard comparison.compared > range.first else { return }
      timer?.close()
      request.record.cacheOutcome = .miss
      let rest = CacheReader(
        [.body(range.first, through: range.end)], of: stored, for: request, in: store, on: exchange.downloads)
      exchange.channel.respond(
        answer.part(range), length: .known(range.count), body: ProvenReader(rest, from: range, by: comparison))
    case .whole, .parts, .notModified, .unsatisfiable: serveNew()
    }
  }

  /// Serves the new body, because it differs from the kept one, or was not proven in time to be the same.
  private func serveNew() {
    guard let comparison, let exchange, !exchange.channel.hasResponded else { return }
    timer?.close()
    exchange.serve(comparison.new, served)
    comparison.stop()
  }
}
