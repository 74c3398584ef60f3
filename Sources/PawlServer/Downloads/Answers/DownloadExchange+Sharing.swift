import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

/// Whose answer it is: whether a request may have what another one brought, or is bringing, without asking the origin itself.
extension DownloadExchange {
  /// The longest that a request waits for the head of another's answer, while nobody knows whether that is to be shared; where the
  /// last one was, it waits as long as it takes.
  static let collapsePatience = Duration.seconds(5)

  /// Whether `stored` may be given to this request as it is (RFC 9111 §4), or because this one only goes on with it.
  /// - Parameters:
  ///   - sharing: whose fetch brings it; `nil` where nobody fetches, or nobody knows.
  ///   - isEarly: whether this request waited for its head: then it hears a body without an end from its beginning, as it should.
  func mayTake(_ stored: StoredResponse, from sharing: Sharing?, isEarly: Bool) -> Bool {
    guard matches(stored) else { return false }
    if isReusable(stored), isEarly || !known(stored).comesLate { return true }
    if opensByTag(stored) { return true }
    guard let sharing, !sharing.isPersonal else { return false }
    return sharing.asker.isLike(request) || isPiece(of: stored, sharing.asker) || collapsesAlways(stored, sharing.asker)
  }

  /// Whether the client that it was asked for wants a part of it, and names it by its tag.
  private func isPiece(of stored: StoredResponse, _ asker: Asker) -> Bool {
    let control = stored.head.cacheControl
    guard namesPart(of: stored), !control.noCache, !control.mustRevalidate, !CacheControl(request.head.fields).noCache
    else { return false }
    return asker.isSameClient(as: request)
  }

  /// Whether a range of it is asked for, and its tag named.
  private func namesPart(of stored: StoredResponse) -> Bool {
    let fields = request.head.fields
    guard request.head.method == .get, fields.contains(.range), case .tag(let tag)? = IfRange(fields) else {
      return false
    }
    return !tag.isWeak && stored.body.tagLimit(tag.opaque) != nil || formNamed(by: tag, of: stored) != nil
  }

  /// Fresh enough for this request.
  private func isReusable(_ stored: StoredResponse) -> Bool {
    switch Reuse.decide(
      stored.head, request: request.head, policy: request.route.policy, now: request.loop.loop.wallSeconds)
    {
    case .fresh, .staleAllowed: true
    case .staleWhileRevalidate, .validate: false
    }
  }

  /// The rule of `resume-ttl`: the client names the body by a tag of pawl's own, which it can have only from an answer. A tag is no
  /// credential: who shows one, or a cookie, and is not answered for everybody anyway, is judged by the origin.
  func opensByTag(_ stored: StoredResponse) -> Bool {
    let fields = request.head.fields
    guard namesPart(of: stored),
      FillCoordinator.canMend(stored, isNamed: true) || FillCoordinator.isFilling(stored),
      stored.head.isForEverybody || !RequestFields.hasCredential(fields)
    else { return false }
    return !CacheControl(fields).noCache
      && ResumeTTL.answersFromStore(stored, policy: request.route.policy, now: request.loop.loop.wallSeconds)
  }

  /// Whether the request comes from whom the stored response was for: what `owner` names is the same in both, and is there.
  func isOfSameOwner(_ stored: StoredResponse) -> Bool {
    Owner.isSame(request, asWithCookies: stored.head.keyCookies)
  }

  /// `collapse = always`, for what the origin says nothing of.
  private func collapsesAlways(_ stored: StoredResponse, _ asker: Asker) -> Bool {
    let control = CacheControl(request.head.fields)
    return request.route.collapsesAlways && stored.head.saysNothingOfReuse && !asker.hasCredential
      && asker.hasSameCookies(request) && !RequestFields.hasCredential(request.head.fields)
      && !control.noCache && !control.noStore && control.maxAge != 0 && !Reuse.hasPragmaNoCache(request.head.fields)
  }

  /// Whether this request waits for an answer to `running`, which might be for both.
  func mayJoin(_ running: CollapsedFetch) -> Bool {
    let fields = request.head.fields
    // A request that came through pawl already would wait for itself.
    guard collapsing != .goesAlone, Via.passages(in: fields) == 0 else { return false }
    if running.asker.isLike(request) { return true }
    let control = CacheControl(fields)
    return !running.asker.sharesNothing && !control.noCache && !control.noStore && control.maxAge != 0
      && !RequestFields.isPersonal(fields)
      && !RequestFields.hasOverride(fields)
  }

  // MARK: - Waiting for another's answer

  /// - Parameter isPatient: whether the last answer under this key was shared.
  func join(_ fetch: CollapsedFetch, isPatient: Bool) {
    let (reference, teller) = (LoopWeak(self, on: request.loop.loop), ObjectIdentifier(fetch))
    guard fetch.join(ObjectIdentifier(self), { outcome in reference.run { $0.told(outcome, by: teller) } }) else {
      return request.loop.loop.nextTurn { [weak self] in self?.look() }
    }
    enter(.joined(fetch))
    guard !isPatient, collapseTimer == nil else { return }
    let timer = request.loop.loop.makeTimer { [weak self] in self?.stopsWaiting() }
    timer.schedule(after: Self.collapsePatience)
    collapseTimer = timer
  }

  private func stopsWaiting() {
    guard state.hears(.joinedTooLong), case .joined(let fetch) = state else { return }
    fetch.left(ObjectIdentifier(self))
    collapsing.gaveUp()
    look()
  }

  private func told(_ outcome: CollapsedFetch.Outcome, by teller: ObjectIdentifier) {
    // It may be told while it goes its own way, or waits for another fetch by now.
    guard state.hears(.told), case .joined(let fetch) = state, ObjectIdentifier(fetch) == teller else { return }
    enter(.deciding)
    switch outcome {
    case .stored(let stored, let arrival, let sharing):
      let isShared =
        if case .staleOnError = arrival { matches(stored) } else { mayTake(stored, from: sharing, isEarly: true) }
      guard isShared, canBeFinished(stored) else { return looksAgain() }
      collapseTimer?.cancel()
      serve(stored, Served(arrival: arrival, isCollapsed: true))
    case .notShared: looksAgain()
    // What the other's request may have provoked is its own.
    case .failed(let failure) where failure.requestBytesSent: looksAgain()
    case .failed(let failure): failed(failure.error)
    }
  }

  /// The answer was the other's own. Where that says nothing of the next one, all who waited look once more: one of them asks, and
  /// the others wait for that, no longer in all than ``collapsePatience``.
  private func looksAgain() {
    collapsing.cameToNothing()
    look()
  }
}
