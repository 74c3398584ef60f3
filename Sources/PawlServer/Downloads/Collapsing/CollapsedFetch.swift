import PawlBase
import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlStore
import PawlUpstream
import PawlWire

/// One request to the origin on behalf of everybody who misses the same resource at the same time. It decides what
/// the answer is (stored, passed on, validated, stale after all) and tells all who wait; each then serves itself.
/// Lives on the loop of the exchange that leads it; others join from any loop.
final class CollapsedFetch: FetchHeadSink {
  let owner: LoopDownloads
  let resource: Resource
  var purpose: Purpose
  let store: CacheStore
  let request: IncomingRequest
  /// The range asked of the origin, and of it what the leader's client asked, where this is a cold range request.
  private let rangeAsked: Range<UInt64>?
  /// Why the origin is asked, for `Cache-Status`.
  let reason: CacheStatus.ForwardReason
  /// The leader's own cookies, which are not stored.
  private var setCookies: [Bytes] = []
  /// Until it has its answer, or its client has left; each holds the other for so long.
  private(set) var leader: DownloadExchange?
  /// A validation that nobody waits for from the start.
  private let isInBackground: Bool
  /// `nil` where nobody may join.
  private let waiters: Locked<[ObjectIdentifier: @Sendable (Outcome) -> Void]?>?
  var fetch: OriginFetch?
  private var requestBegan = Monotonic(nanoseconds: 0)
  /// Set when the answer comes: so many whole seconds before it. The difference of two clock readings would make an
  /// answer a second older whenever a second begins between them.
  var requestTime: Int64 = 0
  var asked: [FieldName] = []
  /// Whose request it is, for those who join.
  let asker: Asker
  /// The resource's count of invalidations when this began.
  private let began: UInt64
  private var isDone = false

  /// With the resource's lock held.
  /// - Parameter leader: whose request this is; `nil` for a validation in the background, which answers nobody.
  init(
    leader: DownloadExchange?, request: IncomingRequest, of resource: Resource, _ state: inout ResourceState,
    store: CacheStore, owner: LoopDownloads, purpose: Purpose, range: Range<UInt64>?, reason: CacheStatus.ForwardReason,
    isShared: Bool
  ) {
    (self.leader, self.request, self.resource, self.store) = (leader, request, resource, store)
    (asker, began) = (Asker(request), state.invalidations)
    state.asking += 1
    isInBackground = leader == nil
    (self.purpose, rangeAsked, self.reason, self.owner) = (purpose, range, reason, owner)
    waiters = isShared ? Locked([:]) : nil
  }

  func start(adding extra: [(FieldName, [UInt8])]) {
    if isShared { owner.fetches[ObjectIdentifier(self)] = self }
    requestBegan = owner.loop.now
    asked = extra.map(\.0)
    let fetch = OriginFetch(for: request, base: request.makeSent(), use: .passThrough, for: .head(self))
    self.fetch = fetch
    fetch.start(adding: extra)
  }

  /// Takes over a fetch whose first answer has just come: it is judged as any other.
  func adopt(
    _ fetch: OriginFetch, adding extra: [FieldName], since began: Monotonic, head: ResponseHead, framing: BodyFraming
  ) {
    (self.fetch, asked, requestBegan) = (fetch, extra, began)
    fetch.hand(to: .head(self))
    self.fetch(fetch, head: head, framing: framing)
  }

  /// Joins from any loop. `false` when the outcome is already out: look again.
  func join(_ waiter: ObjectIdentifier, _ told: @escaping @Sendable (Outcome) -> Void) -> Bool {
    guard let waiters else { return false }
    return waiters.withLock { waiters in
      guard waiters != nil else { return false }
      waiters?[waiter] = told
      return true
    }
  }

  /// The client of one that waits went away. From any loop.
  func left(_ waiter: ObjectIdentifier) {
    let isEmpty = waiters?.withLock { waiters in
      waiters?[waiter] = nil
      return waiters?.isEmpty ?? false
    }
    if isEmpty == true { LoopWeak(self, on: owner.loop).run { $0.endIfUnwanted() } }
  }

  /// The leader's client went away; the fetch goes on only for others.
  func leaderLeft() {
    leader = nil
    endIfUnwanted()
  }

  /// Before the origin has answered, a request that nobody waits for any more holds one of its connections for nothing.
  private func endIfUnwanted() {
    guard !isInBackground, leader == nil, waiters?.withLock({ $0?.isEmpty ?? true }) ?? true else { return }
    guard let fetch, !fetch.isEnded, isUndecided else { return }
    fetch.cancel()
    conclude(.notShared)
    // A resource that holds nothing leaves the index with the last that cared for it.
    owner.letGo(of: resource, in: store)
  }

  private var isUndecided = true

  /// Whether others may join: then it stands in the resource.
  private var isShared: Bool { waiters != nil }
  /// Whether a newer answer came first: then this one is for those alone who had asked (RFC 9111 §4).
  private var isOvertaken = false
  /// Whether an unsafe request has succeeded since. What the origin was asked for before that is for those who had asked, not for
  /// those who come later (RFC 9111 §4.4).
  private var isOutdated: Bool { resource.withLock { $0.invalidations != began } }

  /// The server ends.
  func stop() {
    fetch?.cancel()
    leader = nil
    isDoneAsking()
  }

  private func isDoneAsking() {
    guard !isDone else { return }
    isDone = true
    resource.withLock { $0.asking -= 1 }
  }

  /// - Returns: the leader, which others, who may let go of this last on their own loops, must not let go of.
  @discardableResult
  func conclude(_ outcome: Outcome) -> DownloadExchange? {
    isUndecided = false
    isDoneAsking()
    if isShared { tellOthers(outcome) }
    // Others may let go of this last, on their own loops: what belongs to this loop must not go with it.
    fetch = nil
    defer { leader = nil }
    return leader
  }

  private func tellOthers(_ outcome: Outcome) {
    resource.withLock { state in
      if state.fetch === self { state.fetch = nil }
    }
    let told = waiters?.withLock { waiters in
      defer { waiters = nil }
      return waiters.map { Array($0.values) } ?? []
    }
    for tell in told ?? [] { tell(outcome) }
    owner.fetches[ObjectIdentifier(self)] = nil
  }

  // MARK: - The answer

  func fetch(_ fetch: OriginFetch, interim head: ResponseHead) {
    if head.status != 100 { leader?.interim(head) }
  }

  func fetch(_ fetch: OriginFetch, head: ResponseHead, framing: BodyFraming) {
    let now = owner.loop.wallSeconds
    requestTime = now - (owner.loop.now - requestBegan).wholeNanoseconds / 1_000_000_000
    if case .validate(let stored) = purpose, head.status == 304 { return validated(stored, head, now) }
    if let stored = purpose.stored, head.status >= 500, canBeFinished(stored),
      mayServeStaleOnError(stored.head, policy: request.route.policy, now: now, failure: .status(head.status))
    {
      return serveStale(stored)
    }
    setCookies = head.fields.all(.setCookie)
    if let error = ProxyError.unasked(head.status, to: .get, asks: asked.contains) { return refuse(error) }
    if head.status == 206 { return rangeAnswered(head, framing, now) }
    // Whether the client's If-Range holds is for the origin to say, which was not told of it.
    if head.status == 416, request.head.fields.contains(.ifRange) { return askAsItStands() }
    if let failed = purpose.stored { dropReplaced(failed, by: head) }
    switch Storability.decide(
      request: fetch.base, response: head, framing: framing, isConditional: !asked.isEmpty,
      policy: request.route.policy, receivedAt: now)
    {
    case .shared: store(head, framing, now, cookie: false)
    case .sharedPerCookie: store(head, framing, now, cookie: true)
    case .privately: storePrivately(head, framing, now)
    case .no(let reason): passOn(head, framing, isForAll: saysSomethingToAll(reason, head.status))
    }
  }

  private func refuse(_ unasked: ProxyError) {
    fetch?.cancel()
    var error = unasked
    error.details = "a \(error.receivedStatus ?? 0) that was not asked for"
    let failure = OriginFailure(error: error, beforeHead: true, requestBytesSent: true)
    conclude(.failed(failure))?.fetchFailed(failure)
  }

  func fetch(_ fetch: OriginFetch, gotNoAnswer failure: OriginFailure) {
    guard isUndecided else { return }
    if let stored = purpose.stored,
      mayServeStaleOnError(
        stored.head, policy: request.route.policy, now: owner.loop.wallSeconds, failure: .disconnected),
      canBeFinished(stored)
    {
      return serveStale(stored)
    }
    conclude(.failed(failure))?.fetchFailed(failure)
  }

  // MARK: - Passed on

  /// For the leader alone; whoever waited asks for himself.
  /// - Parameter isForAll: for a while nobody waits here.
  private func passOn(_ head: ResponseHead, _ framing: BodyFraming, isForAll: Bool) {
    if isForAll { mark() }
    if leader?.isProvenUncoded(head) == true {
      request.rangeCoding = .identity
      return askAsItStands()
    }
    relay(head, framing)
  }

  private func relay(_ head: ResponseHead, _ framing: BodyFraming) {
    let fetch = fetch
    guard let leader = conclude(.notShared), let fetch else {
      fetch?.cancel()
      return
    }
    if let content = fetch.takeContent() { return leader.passOn(head, content: content) }
    let resumability: Resumability = head.status == 200 ? .whole : .never
    let hasBody = framing != .none && framing != .length(0)
    let relay = hasBody ? StreamRelay(fetch, canResume: resumability != .never) : nil
    leader.passOn(head, framing, body: relay)
    guard relay != nil else { return fetch.dismiss() }
    fetch.acceptUnkept(head, framing, resumability, receivedAt: owner.loop.wallSeconds)
  }

  // MARK: - Stored

  private func store(_ head: ResponseHead, _ framing: BodyFraming, _ now: Int64, cookie: Bool) {
    var identity = RepresentationIdentity(head: head, framing: framing, receivedAt: now)
    if framing == .none { identity.total = 0 }
    makeBody(identity, expected: identity.total) { body in
      guard let body else { return self.relay(head, framing) }
      let stored = self.publish(head, body, now, cookie: cookie)
      let seesRanges = head.fields.first(.acceptRanges)?.equalsIgnoringCase("bytes") ?? false
      self.begin(
        stored, identity, from: 0, through: nil, seesRanges: seesRanges, status: head.status, self.sharing(head))
    }
  }

  /// A part of a representation with a strong validator becomes a sparse body; any other part is passed on.
  private func rangeAnswered(_ head: ResponseHead, _ framing: BodyFraming, _ now: Int64) {
    var whole = head
    whole.status = 200
    var identity = RepresentationIdentity(head: head, framing: framing, receivedAt: now)
    guard rangeAsked != nil else { return relay(head, framing) }
    guard let part = SinglePart(head, framing: framing), framing != .untilClose else { return askAsItStands() }
    let total = part.total
    identity.total = total
    // They are of the part (RFC 9530 §2).
    for name in [FieldName.contentRange, .contentDigest, .contentMD5] { whole.fields.removeAll(name) }
    let storable = Storability.decide(
      request: sent, response: whole, framing: .length(total), policy: request.route.policy, receivedAt: now)
    guard identity.strongValidator != nil, storable == .shared || storable == .sharedPerCookie else {
      return passOnPart(head, part.range, total)
    }
    makeBody(identity, expected: part.range.count) { body in
      guard let body else { return self.passOnPart(head, part.range, total) }
      body.setTotal(total)
      let stored = self.publish(whole, body, now, cookie: storable == .sharedPerCookie)
      self.begin(
        stored, identity, from: part.range.first, through: part.range.last + 1, seesRanges: true, status: 206,
        self.sharing(head))
    }
  }

  /// The origin was asked for aligned borders: the client gets what it asked for of them.
  private func passOnPart(_ head: ResponseHead, _ part: ByteRange, _ total: UInt64) {
    guard ifRangeHolds(head) else { return askAsItStands() }
    guard let wanted = leader?.cut(part, total: total) else { return askAsItStands() }
    var trimmed = head
    trimmed.fields.set(.contentRange, ContentRange.format(wanted, total: total))
    if wanted != part { StoredAnswer.leaveOutDigestsOfAll(&trimmed.fields) }
    let fetch = fetch
    guard let leader = conclude(.notShared), let fetch else {
      fetch?.cancel()
      return
    }
    var identity = RepresentationIdentity(head: head, framing: .length(part.count), receivedAt: owner.loop.wallSeconds)
    identity.total = total
    let isSuffix = RangeField(request.head.fields)?.specs.contains(where: \.isSuffix) ?? true
    let relay = StreamRelay(fetch, skipping: wanted.first - part.first, canResume: !isSuffix)
    leader.passOn(trimmed, .length(wanted.count), body: relay)
    fetch.accept(FirstAnswer(identity), from: part.first, through: wanted.last + 1)
  }

  /// The origin was asked for more, or for less, than the client wants, and nothing of its answer can be kept.
  private func askAsItStands() {
    fetch?.cancel()
    conclude(.notShared)?.forwardInstead(reason)
  }

  private func makeBody(
    _ identity: RepresentationIdentity, expected: UInt64?, _ made: @escaping (StoredBody?) -> Void
  ) {
    let limit = request.route.policy.maxObject
    if limit > 0, let total = identity.total, total > limit { return made(nil) }
    store.createBody(expected: expected, total: identity.total, on: owner.loop) { [self] body in
      guard fetch?.isEnded == false else { return }
      made(body)
    }
  }

  /// What the origin was asked, without what ``start(adding:)`` added.
  var sent: RequestHead { fetch?.base ?? request.asSent }

  private func publish(_ head: ResponseHead, _ body: StoredBody, _ now: Int64, cookie: Bool) -> StoredResponse {
    let kept = StoredHead(
      request: request.head, asSent: sent.fields, response: head, requestTime: requestTime, responseTime: now,
      storability: cookie ? .sharedPerCookie : .shared, asksIdentity: request.asksIdentity)
    let name = resource.withLock { Tags.name(for: head, beside: $0.responses) }
    body.addTag(TagRecord(tag: name, limit: .max))
    let stored = StoredResponse(head: kept, body: body, storedAt: now)
    let replaced = resource.withLock { self.replaced(by: head, in: $0) }
    isOvertaken = replaced.contains { kept.isOvertaken(by: $0.head) }
    let old = isOvertaken ? nil : predecessor(replaced, of: head)
    store.publish(stored, in: resource, replacing: [], superseding: isOvertaken ? [] : replaced)
    if let old {
      TwinComparison.start(old: old, new: stored, store: store, owner: owner, policy: request.route.policy)
    }
    return stored
  }

  private func begin(
    _ stored: StoredResponse, _ identity: RepresentationIdentity, from start: UInt64, through end: UInt64?,
    seesRanges: Bool, status: Int, _ sharing: Sharing
  ) {
    guard let fetch else { return }
    let fill = Fill(fetch, of: stored, in: store, on: owner, route: request.route, seesRanges: seesRanges)
    self.fetch = nil
    if isInBackground { fill.renewed = purpose.stored?.body.total }
    let arrival = Arrival.fetched(status: status, why: reason)
    // Before anybody reads: whoever lacks bytes must find that they are on their way.
    fill.begin(identity, from: start, through: end, sharing: sharing)
    noteShareability(of: stored)
    if isOutdated || isOvertaken { store.forget(stored) }
    conclude(.stored(stored, arrival, sharing))?.fetched(stored, arrival, setCookies: setCookies)
    fill.watchForReaders()
  }

  private func storePrivately(_ head: ResponseHead, _ framing: BodyFraming, _ now: Int64) {
    let identity = RepresentationIdentity(head: head, framing: framing, receivedAt: now)
    makeBody(identity, expected: identity.total) { body in
      guard let body, let lifetime = self.request.route.policy.resumePrivate, self.leader != nil else {
        return self.passOn(head, framing, isForAll: self.saysSomethingToAll(.isPrivate, head.status))
      }
      let tag = Tags.mint()
      body.addTag(TagRecord(tag: tag, limit: .max))
      let kept = StoredHead(
        request: self.request.head, response: head, requestTime: self.requestTime, responseTime: now,
        storability: .privately, asksIdentity: self.request.asksIdentity)
      let stored = StoredResponse(head: kept, body: body, storedAt: now)
      self.store.publishPrivate(
        stored, tag: tag, owner: PrivateOwner(self.request).octets, expires: now + lifetime)
      if self.saysSomethingToAll(.isPrivate, head.status) { self.owner.uncollapse(self.resource, in: self.store) }
      guard let fetch = self.fetch else { return }
      let fill = Fill(
        fetch, of: stored, in: self.store, on: self.owner, route: self.request.route, seesRanges: false)
      self.fetch = nil
      fill.begin(identity, from: 0, through: nil, sharing: nil)
      self.conclude(.notShared)?.fetched(
        stored, .fetched(status: head.status, why: self.reason), setCookies: head.fields.all(.setCookie))
      fill.watchForReaders()
    }
  }
}
