import PawlCache
import PawlHTTP
import PawlLoop
import PawlStore
import PawlUpstream

extension DownloadExchange {
  /// What a look at the resource leads to.
  enum Decision {
    case serve(StoredResponse, CollapsedFetch.Arrival?)
    /// Stale, while the origin is asked in the background; `nil`: somebody asks already.
    case serveWhile((CollapsedFetch, [(FieldName, [UInt8])])?, StoredResponse)
    case waitForProof(TwinComparison, StoredResponse)
    /// Patiently: as long as it takes.
    case join(CollapsedFetch, isPatient: Bool)
    case lead(CollapsedFetch, [(FieldName, [UInt8])])
    case forward(CacheStatus.ForwardReason)
    case onlyIfCached
    /// What the catalogue has of it must be read first.
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

  /// One decision under the resource's lock; starts nothing yet.
  func decide(_ resource: Resource) -> Decision {
    let now = request.loop.loop.wallSeconds
    return resource.withLock { state in
      guard state.isLoaded else { return .load }
      if request.head.fields.mayContain(anyOf: HeldPart.fields) { settleRangeCoding(state) }
      if let resumed = resumable(state) { return resumed }
      let current = state.variants.selected(by: values, where: matches)
      if request.head.method == .head { return decideHead(current, now) }
      guard let current else { return missing(resource, &state) }
      return use(current, resource, &state, now)
    }
  }

  /// A client that holds a part of a stored body goes on with it: by `resume-ttl`, or when the comparison that is
  /// under way has shown that the new body is the same.
  private func resumable(_ state: ResourceState) -> Decision? {
    guard case .tag(let tag)? = ifRange, request.head.method == .get, !isOutOfPatience,
      request.rangeCoding.mayAskForRange
    else { return nil }
    let current = state.variants.allSelected(by: values, where: matches)
    for stored in current + state.superseded.filter(matches) where opensByTag(stored) {
      return .serve(stored, nil)
    }
    if let current = current.first, !names(current, tag),
      let twin = FillCoordinator.existing(current)?.comparison, twin.concerns(tag)
    {
      return .waitForProof(twin, current)
    }
    return nil
  }

  private func names(_ stored: StoredResponse, _ tag: EntityTag) -> Bool {
    !tag.isWeak && stored.body.tagLimit(tag.opaque) != nil
  }

  private func decideHead(_ current: StoredResponse?, _ now: Int64) -> Decision {
    guard let current, current.body.total != nil,
      case .fresh = Reuse.decide(
        current.head, request: request.head, policy: policy, now: now)
    else { return .forward(current == nil ? .uriMiss : .stale) }
    return .serve(current, nil)
  }

  private func use(_ current: StoredResponse, _ resource: Resource, _ state: inout ResourceState, _ now: Int64)
    -> Decision
  {
    let running = FillCoordinator.existing(current)
    let isFilling = running?.isFilling ?? false
    let canFinish = FillCoordinator.canMend(current) || isFilling || FillCoordinator.canFetchRanges(current)
    let isTimely = canFinish && !comesLate(to: current)
    switch Reuse.decide(current.head, request: request.head, policy: policy, now: now) {
    case .fresh where isTimely, .staleAllowed where isTimely: return .serve(current, nil)
    case .staleWhileRevalidate where current.body.isComplete:
      return .serveWhile(validation(of: current, resource, &state), current)
    case .fresh, .staleAllowed, .staleWhileRevalidate, .validate: break
    }
    if isFilling, mayTake(current, from: running?.sharing, isEarly: false) { return .serve(current, nil) }
    let control = CacheControl(request.head.fields.all(.cacheControl))
    if control.onlyIfCached { return .onlyIfCached }
    if let running = state.fetch as? CollapsedFetch, mayJoin(running, control) {
      return .join(running, isPatient: state.wasShareable)
    }
    let (purpose, conditions) = Self.renewal(of: current, isConditional: canFinish)
    return lead(purpose, resource, range: nil, conditions, &state)
  }

  /// What is no 200 is asked for without conditions: an origin that repeats it would say it in answer to them, and nothing
  /// but a 200 counts that comes so (``NotStored/conditional``).
  /// While its body is still coming, only a strong tag says that it is this client's, too.
  private static func renewal(
    of current: StoredResponse, isConditional: Bool
  ) -> (CollapsedFetch.Purpose, [(FieldName, [UInt8])]) {
    let isTelling =
      current.head.status == 200
      && (current.head.validators.tag.map { !$0.isWeak } ?? false || !FillCoordinator.isFilling(current))
    let conditions = isConditional && isTelling ? current.head.conditions : []
    return (conditions.isEmpty ? .refetch(current) : .validate(current), conditions)
  }

  /// One validation in the background at a time (RFC 5861 §3); whoever may not have the stale copy joins it.
  private func validation(
    of current: StoredResponse, _ resource: Resource, _ state: inout ResourceState
  ) -> (CollapsedFetch, [(FieldName, [UInt8])])? {
    guard state.fetch == nil else { return nil }
    let (purpose, conditions) = Self.renewal(of: current, isConditional: true)
    let fetch = CollapsedFetch(
      leader: nil, request: request.inBackground(), of: resource, &state, store: store, owner: downloads,
      purpose: purpose, range: nil, reason: .stale, isShared: true)
    state.fetch = fetch
    return (fetch, conditions)
  }

  private func missing(_ resource: Resource, _ state: inout ResourceState) -> Decision {
    let control = CacheControl(request.head.fields.all(.cacheControl))
    if control.onlyIfCached { return .onlyIfCached }
    if let running = state.fetch as? CollapsedFetch, mayJoin(running, control), !isUncacheable(state) {
      return .join(running, isPatient: state.wasShareable)
    }
    let cold = ColdRange(
      request.head.fields, mayAskForRange: !isOutOfPatience && request.rangeCoding.mayAskForRange)
    return lead(.miss, resource, range: cold.range, cold.fields, &state)
  }

  private func isUncacheable(_ state: ResourceState) -> Bool {
    state.uncacheableUntil.map { $0 > request.loop.loop.now } ?? false
  }

  private func lead(
    _ purpose: CollapsedFetch.Purpose, _ resource: Resource, range: Range<UInt64>?,
    _ extra: [(FieldName, [UInt8])], _ state: inout ResourceState
  ) -> Decision {
    // Where nobody but the same client's ranges may join what runs, what others can join takes its place.
    let isFree = (state.fetch as? CollapsedFetch)?.asker.sharesNothing ?? (state.fetch == nil)
    let isShared =
      isFree && !goesAlone && !isUncacheable(state) && !RequestFields.hasOverride(request.head.fields)
    let fetch = CollapsedFetch(
      leader: self, request: request, of: resource, &state, store: store, owner: downloads, purpose: purpose,
      range: range, reason: reason(purpose, state), isShared: isShared)
    if isShared { state.fetch = fetch }
    return .lead(fetch, extra)
  }

  private func reason(_ purpose: CollapsedFetch.Purpose, _ state: ResourceState) -> CacheStatus.ForwardReason {
    if purpose.stored != nil { return .stale }
    return state.variants.isEmpty ? .uriMiss : .varyMiss
  }

  func act(on decision: Decision, of resource: Resource) {
    switch decision {
    case .load: store.load(resource, on: request.loop.loop) { [weak self] in self?.look() }
    case .serve(let stored, let arrival): serve(stored, Served(arrival: arrival, isCollapsed: false))
    case .serveWhile(let validation, let stored):
      serve(stored, Served(arrival: nil, isCollapsed: false))
      if let (fetch, conditions) = validation { fetch.start(adding: conditions) }
    case .waitForProof(let twin, let stored): waitForProof(twin, of: stored, isOurs: false)
    case .lead(let fetch, let extra):
      ticket = .leading(fetch)
      fetch.start(adding: extra)
    case .join(let fetch, let isPatient): join(fetch, isPatient: isPatient)
    case .forward(let reason): forwardInstead(reason)
    case .onlyIfCached:
      let reply = Replies.plain(status: 504, sentence: "Nothing usable is stored, and only-if-cached forbids asking.")
      channel.reply(reply)
    }
  }
}
