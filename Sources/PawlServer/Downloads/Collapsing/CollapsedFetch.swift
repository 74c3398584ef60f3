import PawlBase
import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream
import PawlWire

/// One request to the origin for all requests that miss the same resource at the same time (request collapsing). It decides what becomes of
/// the origin's response: the response is stored, or passed on, or it renews the stored one; or a stale response is used instead. Then the
/// fetch gives the outcome to all waiting requests, and the exchange of each request answers it. Lives on the loop of the exchange that
/// leads it; other exchanges join from any loop.
final class CollapsedFetch: FetchHeadSink, DownloadJob {
  let downloads: LoopDownloads
  let resource: Resource
  var purpose: Purpose
  let store: CacheStore
  let request: IncomingRequest
  /// The range that the origin is asked for, if this is a range request for a resource of which nothing is stored.
  let rangeAsked: Range<UInt64>?
  /// Why the origin is asked, for `Cache-Status`.
  let reason: CacheStatus.ForwardReason
  /// The `Set-Cookie` values for the leader, which are not stored.
  private(set) var setCookies: [Bytes] = []
  /// The exchange whose request is sent. Set until the exchange has the outcome, or its client has left; until then exchange and fetch keep
  /// each other in memory. A weak reference would make every later retain of the exchange slower.
  @exclusivity(unchecked) private(set) var leader: (any FetchLeader)?
  /// Whether this is a validation in the background, for which no request waits at first.
  let isInBackground: Bool
  /// The callbacks of the waiting requests. The inner value is `nil` once the outcome was given. The outer value is `nil` if no request may
  /// join.
  private let waiters: Locked<[ObjectIdentifier: @Sendable (Outcome) -> Void]?>?
  /// Ensures that the outcome is given only once: the fetch is asking until it is concluded, or stopped.
  @exclusivity(unchecked) private var state = CollapsedFetchState.asking
  /// The fetch, until another object takes its content.
  var fetch: OriginFetch?
  private var requestBegan = Monotonic(nanoseconds: 0)
  /// The time when the request was sent; wall clock, seconds. It is computed when the response comes: the present time minus the full
  /// seconds that have passed. If the wall clock were read when the request is sent, a response that takes a few milliseconds could seem
  /// one second old.
  var requestTime: Int64 = 0
  var asked: [FieldName] = []
  /// The client and the fields of the request; they decide which other requests may join.
  let asker: Asker
  /// The resource's count of invalidations when the fetch began.
  private let began: UInt64

  /// Creates the fetch; the caller holds the resource's lock.
  /// - Parameter leader: the exchange whose request this is; `nil` for a validation in the background, which answers no client.
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

  /// Takes over a fetch whose first response has just begun. The response is judged like any other.
  func adopt(
    _ fetch: OriginFetch, adding extra: [FieldName], since began: Monotonic, head: ResponseHead, framing: BodyFraming
  ) {
    (self.fetch, asked, requestBegan) = (fetch, extra, began)
    fetch.hand(to: .head(self))
    self.fetch(fetch, head: head, framing: framing)
  }

  /// Adds a waiting request; may be called on any loop. Returns `false` if the outcome was given already; the caller looks up the resource
  /// again.
  func join(_ waiter: ObjectIdentifier, _ told: @escaping @Sendable (Outcome) -> Void) -> Bool {
    guard let waiters else { return false }
    return waiters.withLock { waiters in
      guard waiters != nil else { return false }
      waiters?[waiter] = told
      return true
    }
  }

  /// Removes a waiting request; may be called on any loop.
  func left(_ waiter: ObjectIdentifier) {
    let isEmpty = waiters?.withLock { waiters in
      waiters?[waiter] = nil
      return waiters?.isEmpty ?? false
    }
    if isEmpty == true { LoopWeak(self, on: downloads.loop).run { $0.endIfUnwanted() } }
  }

  /// Releases the leader, because its client has left. The fetch goes on only if requests wait for it.
  func leaderLeft() {
    leader = nil
    endIfUnwanted()
  }

  /// Cancels the fetch if no request waits for it any more and the origin has not responded yet. The fetch would only occupy a connection
  /// to the origin.
  private func endIfUnwanted() {
    guard !isInBackground, leader == nil, waiters?.withLock({ $0?.isEmpty ?? true }) ?? true else { return }
    guard let fetch, !fetch.isEnded, state == .asking else { return }
    AnswerCoding.gotNoAnswer(request)
    fetch.cancel()
    conclude(.notShared)
    // A resource that holds nothing leaves the index with the last request for it.
    downloads.letGo(of: resource, in: store)
  }

  /// Whether other requests may join; then the resource refers to this fetch.
  private var isShared: Bool { waiters != nil }
  /// Whether an unsafe request has succeeded since the fetch began. Then the response is only for requests that came before the unsafe one,
  /// not for later ones (RFC 9111 §4.4).
  var isOutdated: Bool { resource.withLock { $0.invalidations != began } }

  /// Ends the fetch without an outcome, because the server ends.
  func stop() {
    fetch?.cancel()
    leader = nil
    if state.stops() == .leave { leaveResource() }
  }

  private func leaveResource() { resource.withLock { $0.asking -= 1 } }

  /// Gives the outcome to all waiting requests.
  /// - Returns: the leader. The caller keeps it, because the last reference to this object may be released on another loop, and the leader
  ///   must not be released there.
  @discardableResult
  func conclude(_ outcome: Outcome) -> (any FetchLeader)? {
    if state.concludes() == .leave { leaveResource() }
    if isShared { tellOthers(outcome) }
    // The last reference to this object may be released on another loop, and no object of this loop may be released there.
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

  /// The head that the origin was sent, without the fields that ``start(adding:)`` added.
  var sent: RequestHead { fetch?.base ?? request.asSent }

  // MARK: - The response

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
    // The origin has to decide whether the client's If-Range holds, but If-Range was not sent. So the request is sent as it is.
    if head.status == 416, request.head.fields.contains(.ifRange) { return askAsItStands() }
    if let failed = purpose.stored { dropReplaced(failed, by: head) }
    let storability = Storability.decide(
      request: fetch.base, response: head, framing: framing, isConditional: !asked.isEmpty,
      policy: request.route.policy, receivedAt: now)
    if ResumeAdvice.concerns(head, framing) { advise(storability, head, framing) }
    explain(storability, head, framing)
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
      fetch.remedy = .other("gives the stale stored response (stale-if-error)")
      return serveStale(stored)
    }
    if leader == nil { fetch.remedy = .other("no client waits for it") }
    conclude(.failed(failure))?.fetchFailed(failure)
  }
}
