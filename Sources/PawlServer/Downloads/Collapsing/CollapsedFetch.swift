import PawlBase
import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream
import PawlWire

/// One request to the origin on behalf of everybody who misses the same resource at the same time. It decides what
/// the answer is (stored, passed on, validated, stale after all) and tells all who wait; each then serves itself.
/// Lives on the loop of the exchange that leads it; others join from any loop.
final class CollapsedFetch: FetchHeadSink, DownloadJob {
  let downloads: LoopDownloads
  let resource: Resource
  var purpose: Purpose
  let store: CacheStore
  let request: IncomingRequest
  /// The range asked of the origin, where this is a cold range request.
  let rangeAsked: Range<UInt64>?
  /// Why the origin is asked, for `Cache-Status`.
  let reason: CacheStatus.ForwardReason
  /// The leader's own cookies, which are not stored.
  private(set) var setCookies: [Bytes] = []
  /// Until it has been told, or has left; so long neither goes without the other. A weak reference would make
  /// each retain of an exchange a dear one from then on.
  @exclusivity(unchecked) private(set) var leader: (any FetchLeader)?
  /// A validation that nobody waits for from the start.
  let isInBackground: Bool
  /// `nil` where nobody may join.
  private let waiters: Locked<[ObjectIdentifier: @Sendable (Outcome) -> Void]?>?
  /// Told once: it is asking until it is told, or stopped.
  @exclusivity(unchecked) private var state = CollapsedFetchState.asking
  /// Until another takes its content.
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

  /// With the resource's lock held.
  /// - Parameter leader: whose request this is; `nil` for a validation in the background, which answers nobody.
  init(
    leader: (any FetchLeader)?, request: IncomingRequest, of resource: Resource, _ state: inout ResourceState,
    store: CacheStore, downloads: LoopDownloads, purpose: Purpose, range: Range<UInt64>?,
    reason: CacheStatus.ForwardReason, isShared: Bool
  ) {
    (self.leader, self.request, self.resource, self.store) = (leader, request, resource, store)
    (asker, began) = (Asker(request), state.invalidations)
    state.asking += 1
    isInBackground = leader == nil
    (self.purpose, rangeAsked, self.reason, self.downloads) = (purpose, range, reason, downloads)
    waiters = isShared ? Locked([:]) : nil
  }

  func start(adding extra: [(FieldName, [UInt8])]) {
    if isShared { downloads.fetches[ObjectIdentifier(self)] = self }
    requestBegan = downloads.loop.now
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
    if isEmpty == true { LoopWeak(self, on: downloads.loop).run { $0.endIfUnwanted() } }
  }

  /// The leader's client went away; the fetch goes on only for others.
  func leaderLeft() {
    leader = nil
    endIfUnwanted()
  }

  /// Before the origin has answered, a request that nobody waits for any more holds one of its connections for nothing.
  private func endIfUnwanted() {
    guard !isInBackground, leader == nil, waiters?.withLock({ $0?.isEmpty ?? true }) ?? true else { return }
    guard let fetch, !fetch.isEnded, state == .asking else { return }
    AnswerCoding.gotNoAnswer(request)
    fetch.cancel()
    conclude(.notShared)
    // A resource that holds nothing leaves the index with the last that cared for it.
    downloads.letGo(of: resource, in: store)
  }

  /// Whether others may join: then it stands in the resource.
  private var isShared: Bool { waiters != nil }
  /// Whether an unsafe request has succeeded since. What the origin was asked for before that is for those who had asked, not for
  /// those who come later (RFC 9111 §4.4).
  var isOutdated: Bool { resource.withLock { $0.invalidations != began } }

  /// The server ends.
  func stop() {
    fetch?.cancel()
    leader = nil
    if state.stops() == .leave { leaveResource() }
  }

  private func leaveResource() { resource.withLock { $0.asking -= 1 } }

  /// - Returns: the leader, which others, who may let go of this last on their own loops, must not let go of.
  @discardableResult
  func conclude(_ outcome: Outcome) -> (any FetchLeader)? {
    if state.concludes() == .leave { leaveResource() }
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
    downloads.fetches[ObjectIdentifier(self)] = nil
  }

  /// What the origin was asked, without what ``start(adding:)`` added.
  var sent: RequestHead { fetch?.base ?? request.asSent }

  // MARK: - The answer

  func fetch(_ fetch: OriginFetch, interim head: ResponseHead) {
    if head.status != 100 { leader?.interim(head) }
  }

  func fetch(_ fetch: OriginFetch, head: ResponseHead, framing: BodyFraming) {
    let now = downloads.loop.wallSeconds
    requestTime = now - (downloads.loop.now - requestBegan).wholeNanoseconds / 1_000_000_000
    if case .validate(let stored) = purpose, head.status == 304 { return validated(stored, head, now) }
    if case .offer(let offered) = purpose, head.status == 304 {
      if confirmed(offered, head, now) { return }
      if !request.head.fields.mayContain(anyOf: ColdRange.conditional) { return askPlainly(for: .miss) }
    }
    if let stored = purpose.stored, head.status >= 500, canBeFinished(stored),
      mayServeStaleOnError(stored.head, policy: request.route.policy, now: now, failure: .status(head.status))
    {
      return serveStale(stored)
    }
    setCookies = head.fields.all(.setCookie)
    if let error = ProxyError.unasked(head.status, to: .get, asks: asked.contains) { return refuse(error) }
    AnswerCoding.learn(head, framing, to: request)
    if head.status == 206 { return rangeAnswered(head, framing, now) }
    // Whether the client's If-Range holds is for the origin to say, which was not told of it.
    if head.status == 416, request.head.fields.contains(.ifRange) { return askAsItStands() }
    if let failed = purpose.stored { dropReplaced(failed, by: head) }
    let storability = Storability.decide(
      request: fetch.base, response: head, framing: framing, isConditional: !asked.isEmpty,
      policy: request.route.policy, receivedAt: now)
    if ResumeAdvice.concerns(head, framing) { advise(storability, head, framing) }
    switch storability {
    case .shared, .sharedPerCookie, .sharedOnceConfirmed: store(head, framing, now, for: storability)
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
    guard state == .asking else { return }
    AnswerCoding.gotNoAnswer(request)
    if let stored = purpose.stored,
      mayServeStaleOnError(
        stored.head, policy: request.route.policy, now: downloads.loop.wallSeconds, failure: .disconnected),
      canBeFinished(stored)
    {
      return serveStale(stored)
    }
    conclude(.failed(failure))?.fetchFailed(failure)
  }
}
