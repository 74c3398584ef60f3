import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlUpstream

extension DownloadExchange {
  /// The decision after a look at the resource.
  enum Decision {
    case serve(StoredResponse, CollapsedFetch.Arrival?)
    /// Serve the stale response, and ask the origin in the background; `nil`: another request asks already.
    case serveWhile((CollapsedFetch, [(FieldName, [UInt8])])?, StoredResponse)
    case waitForProof(TwinComparison, StoredResponse)
    /// Ask the origin whether a response that was stored for other requests is also the response to this one.
    case prove(StoredResponse)
    /// Wait for the response to a running request; `isPatient`: without a time limit.
    case join(CollapsedFetch, isPatient: Bool)
    case lead(CollapsedFetch, [(FieldName, [UInt8])])
    case forward(CacheStatus.ForwardReason)
    case onlyIfCached
    /// Read the resource's rows from the catalogue first.
    case load
  }

  private var policy: CachePolicy { request.route.policy }
  private var ifRange: IfRange? { request.head.fields.contains(.range) ? IfRange(request.head.fields) : nil }

  func matches(_ stored: StoredResponse) -> Bool {
    stored.head.isSelected(by: request.head, asksIdentity: request.asksIdentity) { request.asSent.fields }
  }

  private func values(_ selector: VariantSelector) -> [UInt8] {
    selector.values(of: request.head, asksIdentity: request.asksIdentity) { request.asSent.fields }
  }

  /// The newest stored response that the request selects.
  func selected(in state: inout ResourceState) -> StoredResponse? {
    state.variants.selected(by: values, where: matches)
  }

  /// Decides under the resource's lock (``AnswerPlan``), and creates the fetch that the decision needs. Starts nothing yet.
  func decide(_ resource: Resource) -> Decision {
    resource.withLock { state in
      guard state.isLoaded else { return .load }
      if request.head.fields.mayContain(anyOf: HeldPart.fields) { decideRangeCoding(state) }
      if !state.confirmations.isEmpty, let stored = confirmed(in: state) { return .serve(stored, nil) }
      let named = named(in: state)
      let current = named == nil ? state.variants.selected(by: values, where: matches) : nil
      let running = state.fetch as? CollapsedFetch
      let known = current.map(known)
      let plan = AnswerPlan.decide(
        request.head.method, request.head.fields, stored: known, named: named?.plan ?? .nothing,
        isShared: current.map(mayTakeWhatComes) ?? false,
        mayJoin: running.map { mayJoin($0) && (current != nil || !isUncacheable(state)) } ?? false)
      return carriedOut(plan, current, known?.renewal ?? .miss, named, running, resource, &state)
    }
  }

  /// The response that the origin has confirmed to this very client a moment ago. If this client asks for another range of the response,
  /// the origin is not asked again. A newer response is used instead (RFC 9111 §4), unless the request names the older one by its tag.
  private func confirmed(in state: borrowing ResourceState) -> StoredResponse? {
    guard asksForPart,
      let confirmed = state.confirmations.response(for: seeker, at: request.loop.loop.now),
      let stored = state.variants.response(of: confirmed.body) ?? supersededNamed(confirmed, in: state),
      matches(stored), known(stored).canFinish
    else { return nil }
    return stored
  }

  /// Returns `stored` if it is superseded and `If-Range` names it by its tag.
  private func supersededNamed(_ stored: StoredResponse, in state: borrowing ResourceState) -> StoredResponse? {
    guard case .tag(let tag)? = ifRange, names(stored, tag),
      state.responses.contains(where: { $0.body === stored.body })
    else { return nil }
    return stored
  }

  /// The key that identifies this client by everything that it shows: URL, owner, credentials, cookies and address.
  private var seeker: [UInt8] {
    let credentials = request.head.fields.all(.authorization).joined(separator: [0])
    return PrivateOwner(request).bytes + credentials + [0, 0] + request.cookies.joined(separator: [0]) + [0, 0]
      + request.facts.text
  }

  /// Whether the request asks for a range, without conditions that a 304 may answer, and allows a response that was confirmed a moment
  /// ago.
  private var asksForPart: Bool {
    let fields = request.head.fields
    guard request.head.method == .get, fields.contains(.range), !fields.contains(.ifNoneMatch),
      !fields.contains(.ifModifiedSince), !Reuse.hasPragmaNoCache(fields)
    else { return false }
    let control = CacheControl(fields)
    return !control.noCache && !control.noStore && control.maxAge == nil && control.minFresh == nil
  }

  /// Remembers that the origin has just confirmed this response to this client.
  func remember(_ stored: StoredResponse, _ arrival: CollapsedFetch.Arrival) {
    switch arrival {
    case .validated, .confirmed: break
    case .fetched, .staleOnError: return
    }
    guard asksForPart, stored.head.allowsSeeking, let resource else { return }
    let (asker, now) = (seeker, request.loop.loop.now)
    resource.withLock { $0.confirmations.note(stored, for: asker, at: now) }
  }

  private func carriedOut(
    _ plan: AnswerPlan, _ current: StoredResponse?, _ renewal: AnswerPlan.Renewal, _ named: Named?,
    _ running: CollapsedFetch?, _ resource: Resource,
    _ state: inout ResourceState
  ) -> Decision {
    switch (plan, current, named, running) {
    case (.opened, _, .opened(let stored)?, _): .serve(stored, nil)
    case (.prove, _, .ofOthers(let stored)?, _): .prove(stored)
    case (.awaitProof, _, .awaitsProof(let twin, let stored)?, _): .waitForProof(twin, stored)
    case (.stored, let stored?, _, _): .serve(stored, nil)
    case (.storedWhileValidating, let stored?, _, _):
      .serveWhile(validation(of: stored, renewal, resource, &state), stored)
    case (.join, _, _, let running?): .join(running, isPatient: state.wasShareable)
    case (.fetch(let renewal), _, _, _): lead(renewal, current, resource, &state)
    case (.forward(let reason), _, _, _): .forward(reason)
    case (.onlyIfCached, _, _, _): .onlyIfCached
    // In these cases a value is missing that the plan needs. Such plans are never made.
    case (.opened, _, _, _), (.prove, _, _, _), (.awaitProof, _, _, _), (.stored, nil, _, _),
      (.storedWhileValidating, nil, _, _),
      (.join, _, _, nil):
      .forward(.bypass)
    }
  }

  /// Returns the facts about a stored response that its plan depends on.
  func known(_ stored: StoredResponse) -> AnswerPlan.Stored {
    let (body, isFilling) = (stored.body, FillCoordinator.isFilling(stored))
    let missing: AnswerPlan.Stored.Missing =
      if body.isComplete {
        .nothing
      } else if isFilling || FillCoordinator.canMend(stored) || FillCoordinator.canFetchRanges(stored) {
        .obtainable
      } else {
        .lost
      }
    return AnswerPlan.Stored(
      stored.head, asked: request.head.fields, policy: policy, now: request.loop.loop.wallSeconds,
      hasTotal: body.total != nil, missing: missing, isFilling: isFilling)
  }

  private func mayTakeWhatComes(_ stored: StoredResponse) -> Bool {
    mayTake(stored, from: FillCoordinator.existing(stored)?.sharing, isEarly: false)
  }

  /// The stored response that the client's tag names, and how it may be used.
  private enum Named {
    case opened(StoredResponse)
    case ofOthers(StoredResponse)
    case awaitsProof(TwinComparison, StoredResponse)

    var plan: AnswerPlan.Named {
      switch self {
      case .opened: .opened
      case .ofOthers: .ofOthers
      case .awaitsProof: .awaitsProof
      }
    }
  }

  /// Finds the stored response of which the client holds a part, and which it names by its tag. `resume-ttl` may allow the client to
  /// continue it. If not, a running comparison has to show first that the new body has the same bytes as the old one, or the origin has to
  /// be asked.
  private func named(in state: ResourceState) -> Named? {
    guard case .tag(let tag)? = ifRange, request.head.method == .get, !isOutOfPatience,
      request.rangeCoding.mayAskForRange
    else { return nil }
    let current = state.variants.allSelected(by: values, where: matches)
    for stored in current + state.superseded.filter(matches) where opensByTag(stored) { return .opened(stored) }
    if current.contains(where: { names($0, tag) || formNamed(by: tag, of: $0) != nil }) { return nil }
    if let current = current.first, let twin = FillCoordinator.existing(current)?.comparison, twin.concerns(tag) {
      return .awaitsProof(twin, current)
    }
    return ofOthers(tag, in: state)
  }

  /// Finds a response that was stored for requests with other cookies, and that this request names by its tag. Only the cookies may differ.
  private func ofOthers(_ tag: EntityTag, in state: ResourceState) -> Named? {
    let others = (Array(state.variants) + state.superseded).filter { stored in
      names(stored, tag)
        && stored.head.mayBeProven(to: request.head, asksIdentity: request.asksIdentity) {
          request.asSent.fields
        }
    }
    if let own = others.first(where: { opensByTag($0) && isOfSameOwner($0) }) { return .opened(own) }
    // A response with a strong tag of the origin is left out, because this tag is offered to the origin, together with the range.
    guard resumption == nil, PrivateResumption.canProve(to: request.head),
      let other = others.first(where: { $0.head.validators.tag?.isWeak ?? true && !$0.body.isStreaming })
    else { return nil }
    return .ofOthers(other)
  }

  private func names(_ stored: StoredResponse, _ tag: EntityTag) -> Bool {
    !tag.isWeak && stored.body.tagLimit(tag.opaque) != nil
  }

  private static func purpose(
    _ renewal: AnswerPlan.Renewal, _ stored: StoredResponse?
  ) -> (CollapsedFetch.Purpose, [(FieldName, [UInt8])]) {
    guard let stored else { return (.miss, []) }
    switch renewal {
    case .miss: return (.miss, [])
    case .validate: return (.validate(stored), AnswerTags.conditions(of: stored))
    case .refetch: return (.refetch(stored), [])
    }
  }

  /// Creates a validation in the background, unless a fetch is running (RFC 5861 §3). A request that may not have the stale response joins
  /// the validation.
  private func validation(
    of current: StoredResponse, _ renewal: AnswerPlan.Renewal, _ resource: Resource, _ state: inout ResourceState
  ) -> (CollapsedFetch, [(FieldName, [UInt8])])? {
    guard state.fetch == nil else { return nil }
    let (purpose, conditions) = Self.purpose(renewal, current)
    let fetch = CollapsedFetch(
      leader: nil, request: request.inBackground(), of: resource, &state, store: store, downloads: downloads,
      purpose: purpose, range: nil, reason: .stale, isShared: true)
    state.fetch = fetch
    return (fetch, conditions)
  }

  private func isUncacheable(_ state: borrowing ResourceState) -> Bool {
    state.uncacheableUntil.map { $0 > request.loop.loop.now } ?? false
  }

  private func lead(
    _ renewal: AnswerPlan.Renewal, _ current: StoredResponse?, _ resource: Resource, _ state: inout ResourceState
  ) -> Decision {
    var (purpose, extra) = Self.purpose(renewal, current)
    var range: Range<UInt64>?
    if current == nil {
      let cold = ColdRange(
        request.head.fields, mayAskForRange: !isOutOfPatience && request.rangeCoding.mayAskForRange)
      (range, extra) = (cold.range, cold.fields)
      let offered = offered(state)
      if !offered.isEmpty {
        (purpose, extra) = (.offer(offered), Offer.conditions(offered.map(\.head), beside: extra))
      }
    }
    // If only range requests of its own client may join the running fetch, this fetch replaces the running one, because all requests may
    // join this fetch.
    let isFree = (state.fetch as? CollapsedFetch)?.asker.sharesNothing ?? (state.fetch == nil)
    let isShared =
      isFree && collapsing != .goesAlone && !isUncacheable(state) && !RequestFields.hasOverride(request.head.fields)
    if case .miss = purpose, range == nil { request.asksOwnCoding = AnswerCoding.isToLearn(request) }
    let fetch = CollapsedFetch(
      leader: self, request: request, of: resource, &state, store: store, downloads: downloads, purpose: purpose,
      range: range, reason: reason(purpose, state), isShared: isShared)
    if isShared { state.fetch = fetch }
    return .lead(fetch, extra)
  }

  /// The responses that are stored for other requests, and that the origin may confirm with a 304 for this request, too.
  private func offered(_ state: borrowing ResourceState) -> [StoredResponse] {
    guard !state.variants.isEmpty, !request.head.fields.contains(.ifRange) || request.rangeCoding.mayAskForRange else {
      return []
    }
    return state.variants.newest(Offer.limit) { stored in
      stored.head.mayBeOffered(to: request.head, asksIdentity: request.asksIdentity) { request.asSent.fields }
        && known(stored).canFinish && !stored.body.isStreaming
    }
  }

  private func reason(_ purpose: CollapsedFetch.Purpose, _ state: borrowing ResourceState) -> CacheStatus.ForwardReason
  {
    if purpose.stored != nil { return .stale }
    return state.variants.isEmpty ? .uriMiss : .varyMiss
  }

  func act(on decision: Decision, of resource: Resource) {
    switch decision {
    case .load:
      store.load(resource, on: request.loop.loop) { [weak self] in
        if let self, self.state.hears(.loaded) { self.look() }
      }
    case .serve(let stored, let arrival): serve(stored, Served(arrival: arrival, isCollapsed: false))
    case .serveWhile(let validation, let stored):
      serve(stored, Served(arrival: nil, isCollapsed: false))
      if let (fetch, conditions) = validation { fetch.start(adding: conditions) }
    case .waitForProof(let twin, let stored): waitForProof(twin, of: stored, isOurs: false)
    case .prove(let stored): PrivateResumption.start(self, of: stored, for: PrivateOwner(request))
    case .lead(let fetch, let extra):
      enter(.leading(fetch))
      fetch.start(adding: extra)
    case .join(let fetch, let isPatient): join(fetch, isPatient: isPatient)
    case .forward(let reason): forwardInstead(reason)
    case .onlyIfCached: refuseOnlyIfCached()
    }
  }

  /// Answers 504, because the client wants nothing from the origin (RFC 9111 §5.2.1.7).
  func refuseOnlyIfCached() {
    channel.reply(
      Replies.plain(status: 504, sentence: "Nothing usable is stored, and only-if-cached forbids asking."))
  }
}
