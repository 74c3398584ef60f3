import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

/// Decides whether a request may have a response that another request brought, or is bringing, without asking the origin itself.
extension DownloadExchange {
  /// The longest time that a request waits for the head of a response to another request, while it is unknown whether that response can be
  /// shared. If the last response under this key was shared, there is no limit.
  static let collapsePatience = Duration.seconds(5)

  /// Whether this request may have `stored`: because `stored` may be reused for it (RFC 9111 §4), or because the request belongs to the
  /// download that brings `stored`.
  /// - Parameters:
  ///   - sharing: the request whose fetch brings the response; `nil` if no fetch runs, or that request is unknown.
  ///   - isEarly: whether this request waited for the head. Then it gets the body from its beginning, even if the length is unknown.
  func mayTake(_ stored: StoredResponse, from sharing: Sharing?, isEarly: Bool) -> Bool {
    guard matches(stored) else { return false }
    if isReusable(stored), isEarly || !known(stored).comesLate { return true }
    if opensByTag(stored) { return true }
    guard let sharing, !sharing.isPersonal else { return false }
    return sharing.asker.isLike(request) || isPiece(of: stored, sharing.asker) || collapsesAlways(stored, sharing.asker)
  }

  /// Whether the request asks for a part of `stored`, names it by its tag, and comes from the client for which it is being fetched.
  private func isPiece(of stored: StoredResponse, _ asker: Asker) -> Bool {
    let control = stored.head.cacheControl
    guard namesPart(of: stored), !control.noCache, !control.mustRevalidate, !CacheControl(request.head.fields).noCache
    else { return false }
    return asker.isSameClient(as: request)
  }

  /// Whether the request asks for a range of `stored` and names it by its tag.
  private func namesPart(of stored: StoredResponse) -> Bool {
    let fields = request.head.fields
    guard request.head.method == .get, fields.contains(.range), case .tag(let tag)? = IfRange(fields) else {
      return false
    }
    return !tag.isWeak && stored.body.tagLimit(tag.opaque) != nil || formNamed(by: tag, of: stored) != nil
  }

  /// Whether `stored` is fresh enough for this request.
  private func isReusable(_ stored: StoredResponse) -> Bool {
    switch Reuse.decide(
      stored.head, request: request.head, policy: request.route.policy, now: request.loop.loop.wallSeconds)
    {
    case .fresh, .staleAllowed: true
    case .staleWhileRevalidate, .validate: false
    }
  }

  /// Whether the client may continue `stored` by the rule of `resume-ttl`. The client names the body by a tag that pawl made, and can know
  /// this tag only from a response. A tag is no credential, so the origin decides about a request with a credential, unless the response is
  /// for everybody. Cookies are compared by the caller.
  func opensByTag(_ stored: StoredResponse) -> Bool {
    let fields = request.head.fields
    guard namesPart(of: stored),
      FillCoordinator.canMend(stored, isNamed: true) || FillCoordinator.isFilling(stored),
      stored.head.isForEverybody || !RequestFields.hasCredential(fields)
    else { return false }
    return !CacheControl(fields).noCache
      && ResumeTTL.answersFromStore(stored, policy: request.route.policy, now: request.loop.loop.wallSeconds)
  }

  /// Whether the request comes from the owner of the stored response: both the request and the stored response have the value that `owner`
  /// names, and the two values are equal.
  func isOfSameOwner(_ stored: StoredResponse) -> Bool {
    Owner.isSame(request, asWithCookies: stored.head.keyCookies)
  }

  /// Whether `collapse = always` applies: the origin says nothing about reuse, neither request shows a credential, and both show the same
  /// cookies.
  private func collapsesAlways(_ stored: StoredResponse, _ asker: Asker) -> Bool {
    let control = CacheControl(request.head.fields)
    return request.route.collapsesAlways && stored.head.saysNothingOfReuse && !asker.hasCredential
      && asker.hasSameCookies(request) && !RequestFields.hasCredential(request.head.fields)
      && !control.noCache && !control.noStore && control.maxAge != 0 && !Reuse.hasPragmaNoCache(request.head.fields)
  }

  /// Whether this request may wait for the response to `running`, because that response may be for both requests.
  func mayJoin(_ running: CollapsedFetch) -> Bool {
    let fields = request.head.fields
    // A request that has passed through pawl before would wait for itself.
    guard collapsing != .goesAlone, Via.passages(in: fields) == 0 else { return false }
    if running.asker.isLike(request) { return true }
    let control = CacheControl(fields)
    return !running.asker.sharesNothing && !control.noCache && !control.noStore && control.maxAge != 0
      && !RequestFields.isPersonal(fields)
      && !RequestFields.hasOverride(fields)
  }

  // MARK: - Waiting for the response to another request

  /// Waits for the outcome of a running fetch. If the outcome was given already, the exchange looks up the resource again.
  /// - Parameter isPatient: whether the last response under this key was shared; then the wait has no time limit.
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
    // By now the exchange may ask the origin itself, or wait for another fetch.
    guard state.hears(.told), case .joined(let fetch) = state, ObjectIdentifier(fetch) == teller else { return }
    enter(.deciding)
    switch outcome {
    case .stored(let stored, let arrival, let sharing):
      let isShared =
        if case .staleOnError = arrival { matches(stored) } else { mayTake(stored, from: sharing, isEarly: true) }
      guard isShared, canBeFinished(stored) else {
        request.explain("shared", isShared ? "no: its body cannot be finished" : whyNotShared(stored, sharing))
        return looksAgain()
      }
      collapseTimer?.cancel()
      serve(stored, Served(arrival: arrival, isCollapsed: true))
    case .notShared:
      request.explain("shared", "no: the response that was waited for is for its own client, or is not stored")
      looksAgain()
    // A failure that the leader's request may have provoked says nothing about this request.
    case .failed(let failure) where failure.requestBytesSent: looksAgain()
    case .failed(let failure): failed(failure.error)
    }
  }

  /// Looks up the resource again, because the response was not for this request. After the first such response, one of the waiting requests
  /// asks the origin, and the others wait once more. After the second, this request is sent to the origin. All waits together take no
  /// longer than ``collapsePatience``.
  private func looksAgain() {
    collapsing.cameToNothing()
    look()
  }
}
