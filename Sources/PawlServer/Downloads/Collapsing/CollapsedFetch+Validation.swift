import PawlCache
import PawlCacheStore
import PawlHTTP

/// What an answer means for what is stored already, and for those who wait for it.
extension CollapsedFetch {
  func validated(_ stored: StoredResponse, _ head: ResponseHead, _ now: Int64) {
    let setCookies = head.fields.all(.setCookie)
    let head = AnswerTags.inStoredWords(head, of: stored)
    switch judgeNotModified(
      stored.head, head, request: sent, policy: request.route.policy, requestTime: requestTime,
      responseTime: now)
    {
    case .unrelated: askPlainly(for: .refetch(stored))
    case .freshens(let merged) where isOvertaken(merged, of: stored):
      conclude(.notShared)?.fetched(stored.ofOneRequest(head: merged), .validated, setCookies: setCookies)
    case .freshens(let merged):
      let renewed = store.updateHead(stored, head: merged)
      noteShareability(of: renewed)
      conclude(.stored(renewed, .validated, sharing(head)))?.fetched(renewed, .validated, setCookies: setCookies)
    case .confirms(let own, let shared):
      if let shared { _ = store.updateHead(stored, head: shared) }
      if !asker.isPersonal { mark() }
      conclude(.notShared)?.fetched(stored.ofOneRequest(head: own), .validated, setCookies: setCookies)
    }
  }

  /// The origin has said to this request that what others have is its own, too: by the tag that it names.
  /// - Returns: `false` where it names none of them.
  func confirmed(_ offered: [StoredResponse], _ head: ResponseHead, _ now: Int64) -> Bool {
    guard let index = Offer.index(namedBy: head, of: offered.map(\.head)) else { return false }
    let own = Offer.head(
      of: offered[index].head, confirmedBy: head, for: request.head, asSent: sent.fields, requestTime: requestTime,
      responseTime: now, asksIdentity: request.asksIdentity)
    conclude(.notShared)?.fetched(
      offered[index].ofOneRequest(head: own), .confirmed, setCookies: head.fields.all(.setCookie))
    return true
  }

  /// Whether a newer answer about the same body came first.
  private func isOvertaken(_ merged: StoredHead, of stored: StoredResponse) -> Bool {
    let current = resource.withLock { state in state.variants.response(of: stored.body) }
    return current.map { $0 !== stored && merged.isOvertaken(by: $0.head) } ?? false
  }

  /// The origin spoke of something else than what it was asked about: the whole of what it has now is wanted.
  func askPlainly(for purpose: Purpose) {
    fetch?.cancel()
    self.purpose = purpose
    start(adding: [])
  }

  /// Whether others may have had this answer decides how long they wait for the next one.
  func noteShareability(of stored: StoredResponse) {
    let policy = request.route.policy
    let isFresh = Freshness.evaluate(stored.head, policy: policy, now: downloads.loop.wallSeconds).isFresh
    let isShareable =
      isFresh && !stored.head.cacheControl.noCache
      || request.route.collapsesAlways && stored.head.saysNothingOfReuse
    // What one user's request brought says nothing of the others'.
    guard isShareable || !asker.isPersonal else { return }
    resource.withLock { $0.wasShareable = isShareable }
    if !isShareable { mark() }
  }

  /// Whether that an answer is not kept tells something of those to others: what the request itself is the reason for does not.
  func saysSomethingToAll(_ reason: NotStored, _ status: Int) -> Bool {
    if asker.isPersonal { return false }
    return switch reason {
    case .requestNoStore, .authorization, .conditional, .override, .method: false
    case .status, .noFreshness: !RequestFields.mayProvoke(status, request.head.fields)
    case .liveStream, .tooLarge, .noStore, .isPrivate, .varyStar, .setCookie: true
    }
  }

  /// For a while nobody waits for another's answer here.
  func mark() {
    downloads.uncollapse(resource, in: store)
  }

  func sharing(_ head: ResponseHead) -> Sharing {
    Sharing(asker: asker, isPersonal: head.fields.contains(.setCookie))
  }

  /// Without the origin.
  func canBeFinished(_ stored: StoredResponse) -> Bool {
    stored.body.isComplete || FillCoordinator.isFilling(stored)
  }

  func serveStale(_ stored: StoredResponse) {
    fetch?.cancel()
    conclude(.stored(stored, .staleOnError, Sharing(asker: asker, isPersonal: false)))?.fetched(
      stored, .staleOnError, setCookies: [])
  }

  /// Whether the answer is news of the resource. An error that may be about the request is none, nor whatever else is said to a
  /// request that is like no other.
  func isNews(_ head: ResponseHead) -> Bool {
    guard head.status < 400 || head.status == 404 || head.status == 410 else { return false }
    return !RequestFields.isUnusual(request.head.fields)
  }

  /// The resource has become something that is not stored: what was stored is no longer it. Who holds a part of that may go on with it
  /// by the rule of `resume-ttl`.
  func dropReplaced(_ stored: StoredResponse, by head: ResponseHead) {
    guard isNews(head) else { return }
    // What one user is told, or who asks for nothing to be kept, says nothing of what others may have.
    let fields = request.head.fields
    let isOthers = stored.head.isForEverybody ? RequestFields.isPersonal(fields) : RequestFields.hasCredential(fields)
    guard !isOthers, !asker.sharesNothing, !RequestFields.hasOverride(fields) else { return }
    let storable = Storability.decide(
      request: sent, response: head, framing: .chunked, isConditional: !asked.isEmpty,
      policy: request.route.policy, receivedAt: downloads.loop.wallSeconds)
    guard case .no = storable else { return }
    if ResumeTTL.staysForResumption(stored, policy: request.route.policy) {
      store.supersede(stored, in: resource)
    } else {
      store.forget(stored)
    }
  }

  /// Those that the answer takes the place of. What is no news stands beside them, for requests like the one that it answered.
  func replaced(by head: ResponseHead, in state: ResourceState) -> [StoredResponse] {
    let fields = sent.fields
    var replaced = state.variants.allSelected {
      $0.values(of: request.head, asksIdentity: request.asksIdentity) { fields }
    } where: {
      $0.head.isSelected(by: request.head, asksIdentity: request.asksIdentity) { fields }
    }
    if let asked = purpose.stored, !replaced.contains(where: { $0 === asked }),
      state.variants.response(of: asked.body) === asked
    {
      replaced.append(asked)
    }
    guard head.status != 200, !isNews(head) else { return replaced }
    return replaced.filter { $0.head.status >= 300 }
  }

  /// What the new body is compared with: of those that it takes the place of, else of those that something else took the place of.
  func predecessor(_ replaced: [StoredResponse], of head: ResponseHead) -> StoredResponse? {
    if let old = replaced.first(where: { $0.head.status == head.status }) ?? replaced.first { return old }
    let fields = sent.fields
    return resource.withLock { state in
      state.superseded.first { old in
        old.head.status == head.status && ResumeTTL.staysForResumption(old, policy: request.route.policy)
          && old.head.isSelected(by: request.head, asksIdentity: request.asksIdentity) { fields }
      }
    }
  }
}
