import PawlCache
import PawlCacheStore
import PawlHTTP

/// Applies a response to what is stored already, and decides what the waiting requests get.
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

  /// Serves an offered response that a 304 confirms: the tag in the 304 shows which of the offered responses is also the response to this
  /// request.
  /// - Returns: `false` if the 304 names none of the offered responses.
  func confirmed(_ offered: [StoredResponse], _ head: ResponseHead, _ now: Int64) -> Bool {
    guard let index = Offer.index(namedBy: head, of: offered.map(\.head)) else { return false }
    let own = Offer.head(
      of: offered[index].head, confirmedBy: head, for: request.head, asSent: sent.fields, requestTime: requestTime,
      responseTime: now, asksIdentity: request.asksIdentity)
    conclude(.notShared)?.fetched(
      offered[index].ofOneRequest(head: own), .confirmed, setCookies: head.fields.all(.setCookie))
    return true
  }

  /// Whether a newer response with the same body was stored first.
  private func isOvertaken(_ merged: StoredHead, of stored: StoredResponse) -> Bool {
    let current = resource.withLock { state in state.variants.response(of: stored.body) }
    return current.map { $0 !== stored && merged.isOvertaken(by: $0.head) } ?? false
  }

  /// Asks the origin again without conditions. Its 304 belongs to no response that pawl asked about, so the complete current response is
  /// needed.
  func askPlainly(for purpose: Purpose) {
    fetch?.cancel()
    self.purpose = purpose
    start(adding: [])
  }

  /// Notes whether this response could be shared. If so, later requests wait for the next response without a time limit.
  func noteShareability(of stored: StoredResponse) {
    let policy = request.route.policy
    let isFresh = Freshness.evaluate(stored.head, policy: policy, now: downloads.loop.wallSeconds).isFresh
    let isShareable =
      isFresh && !stored.head.cacheControl.noCache
      || request.route.collapsesAlways && stored.head.saysNothingOfReuse
    // The response to one user's request says nothing about the responses to other users.
    guard isShareable || !asker.isPersonal else { return }
    resource.withLock { $0.wasShareable = isShareable }
    if !isShareable { mark() }
  }

  /// Whether the reason why a response is not stored applies to other requests, too. A reason in the request itself does not.
  func saysSomethingToAll(_ reason: NotStored, _ status: Int) -> Bool {
    if asker.isPersonal { return false }
    return switch reason {
    case .requestNoStore, .authorization, .conditional, .override, .method: false
    case .status, .noFreshness: !RequestFields.mayProvoke(status, request.head.fields)
    case .liveStream, .tooLarge, .noStore, .isPrivate, .userByDate, .varyStar, .setCookie: true
    }
  }

  /// Marks the resource as uncacheable (hit-for-miss): for a while requests for it do not wait for each other.
  func mark() {
    downloads.uncollapse(resource, in: store)
  }

  func sharing(_ head: ResponseHead) -> Sharing {
    Sharing(asker: asker, isPersonal: head.fields.contains(.setCookie))
  }

  /// Whether the body is complete, or a running fill is completing it.
  func canBeFinished(_ stored: StoredResponse) -> Bool {
    stored.body.isComplete || FillCoordinator.isFilling(stored)
  }

  func serveStale(_ stored: StoredResponse) {
    fetch?.cancel()
    conclude(.stored(stored, .staleOnError, Sharing(asker: asker, isPersonal: false)))?.fetched(
      stored, .staleOnError, setCookies: [])
  }

  /// Whether the response shows a change of the resource. An error that may be about the request does not show one. A response to an
  /// unusual request (``RequestFields/isUnusual(_:)``) does not show one either.
  func isNews(_ head: ResponseHead) -> Bool {
    guard head.status < 400 || head.status == 404 || head.status == 410 else { return false }
    return !RequestFields.isUnusual(request.head.fields)
  }

  /// Takes a stored response out of use, because the origin's new response for the resource may not be stored. A client that holds a part
  /// of the stored response may continue it by the rule of `resume-ttl`.
  func dropReplaced(_ stored: StoredResponse, by head: ResponseHead) {
    guard isNews(head) else { return }
    // The response to one user, or to a request that forbids storing, says nothing about what other clients may have.
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

  /// The stored responses that a new response replaces. If the new response shows no change of the resource (``isNews(_:)``), it replaces
  /// no 2xx response. It is then stored in addition, for requests like the one that it answered.
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

  /// The response whose body the new one is compared with: one of the replaced responses, or a superseded one.
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
