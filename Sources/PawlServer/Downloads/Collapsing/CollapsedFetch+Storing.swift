import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlWire

/// Stores a response: for all requests, for requests with the same cookies, or for one user.
extension CollapsedFetch {
  func store(_ head: ResponseHead, _ framing: BodyFraming, _ now: Int64, for storability: Storability) {
    var identity = RepresentationIdentity(head: head, framing: framing, receivedAt: now)
    if framing == .none { identity.total = 0 }
    makeBody(identity, expected: identity.total) { body in
      guard let body else { return self.relay(head, framing) }
      let (stored, isOvertaken) = self.publish(head, body, now, for: storability)
      let seesRanges = head.fields.first(.acceptRanges)?.equalsIgnoringCase("bytes") ?? false
      self.begin(
        stored, identity, from: 0, through: nil, seesRanges: seesRanges, status: head.status, self.sharing(head),
        isOvertaken: isOvertaken)
    }
  }

  /// Stores a part of a representation with a strong validator as a sparse body. Any other part is passed on.
  func rangeAnswered(_ head: ResponseHead, _ framing: BodyFraming, _ now: Int64) {
    var whole = head
    whole.status = 200
    var identity = RepresentationIdentity(head: head, framing: framing, receivedAt: now)
    if AnswerCoding.mayBeHeldCoded(head.fields, by: request) {
      request.rangeCoding = .unknown
      return askAsItStands()
    }
    guard rangeAsked != nil else { return relay(head, framing) }
    guard let part = SinglePart(head, framing: framing), framing != .untilClose else { return askAsItStands() }
    let total = part.total
    identity.total = total
    // These fields describe the part, not the representation (RFC 9530 §2).
    for name in [FieldName.contentRange, .contentDigest, .contentMD5] { whole.fields.removeAll(name) }
    let storable = Storability.decide(
      request: sent, response: whole, framing: .length(total), policy: request.route.policy, receivedAt: now)
    guard identity.strongValidator != nil, storable.isForOthers else { return passOnPart(head, part.range, total) }
    makeBody(identity, expected: part.range.count) { body in
      guard let body else { return self.passOnPart(head, part.range, total) }
      body.setTotal(total)
      let (stored, isOvertaken) = self.publish(whole, body, now, for: storable)
      self.begin(
        stored, identity, from: part.range.first, through: part.range.last + 1, seesRanges: true, status: 206,
        self.sharing(head), isOvertaken: isOvertaken)
    }
  }

  private func makeBody(
    _ identity: RepresentationIdentity, expected: UInt64?, _ made: @escaping (StoredBody?) -> Void
  ) {
    let limit = request.route.policy.maxObject
    if limit > 0, let total = identity.total, total > limit { return made(nil) }
    store.createBody(expected: expected, total: identity.total, on: downloads.loop) { [self] body in
      guard fetch?.isEnded == false else { return }
      made(body)
    }
  }

  /// Puts the response into the resource, and begins to compare its body with the body that it replaces.
  /// - Returns: the stored response, and whether a newer response was stored first. If so, the returned response is only for requests that
  ///   came before the newer response was stored (RFC 9111 §4).
  private func publish(
    _ head: ResponseHead, _ body: StoredBody, _ now: Int64, for storability: Storability
  ) -> (StoredResponse, isOvertaken: Bool) {
    let isPlain = request.asksOwnCoding && RepresentationIdentity.codings(head.fields) == nil
    let kept = StoredHead(
      request: request.head, asSent: sent.fields, response: head, requestTime: requestTime, responseTime: now,
      storability: storability, asksIdentity: request.asksIdentity || isPlain)
    let name = resource.withLock { AnswerTags.name(for: head, beside: $0.responses) }
    body.addTag(TagRecord(tag: name, limit: .max))
    let stored = StoredResponse(head: kept, body: body, storedAt: now)
    let replaced = resource.withLock { self.replaced(by: head, in: $0) }
    let isOvertaken = replaced.contains { kept.isOvertaken(by: $0.head) }
    let old = isOvertaken ? nil : predecessor(replaced, of: head)
    store.publish(
      stored, in: resource, replacing: [],
      superseding: isOvertaken ? [] : replaced + (kept.isOnceConfirmed ? excessOfConfirmed() : []))
    if let old {
      TwinComparison.start(old: old, new: stored, store: store, downloads: downloads, route: request.route)
    }
    return (stored, isOvertaken)
  }

  /// The oldest of the responses that the origin has to confirm to each request. Without them, and with the new response, there are at most
  /// ``Offer/limit``. Responses to other requests do not replace them, so their number has to be limited.
  private func excessOfConfirmed() -> [StoredResponse] {
    resource.withLock { state in
      Array(state.variants.newest(.max) { $0.head.isOnceConfirmed }.dropFirst(Offer.limit - 1))
    }
  }

  private func begin(
    _ stored: StoredResponse, _ identity: RepresentationIdentity, from start: UInt64, through end: UInt64?,
    seesRanges: Bool, status: Int, _ sharing: Sharing, isOvertaken: Bool
  ) {
    guard let fetch else { return }
    let fill = Fill(fetch, of: stored, in: store, on: downloads, route: request.route, seesRanges: seesRanges)
    self.fetch = nil
    if isInBackground { fill.renewed = purpose.stored?.body.total }
    let arrival = Arrival.fetched(status: status, why: reason)
    let (kept, at, route) = (stored.head, stored.storedAt, request.route)
    stored.body.decideWhenPacked { body in
      HotAnswer.record(StoredResponse(head: kept, body: body, storedAt: at), route, now: at)
    }
    // Begin before any reader comes: a reader that lacks bytes has to find that they are on their way.
    fill.begin(identity, from: start, through: end, sharing: sharing)
    noteShareability(of: stored)
    if isOutdated || isOvertaken { store.forget(stored) }
    conclude(.stored(stored, arrival, sharing))?.fetched(stored, arrival, setCookies: setCookies)
    fill.watchForReaders()
  }

  func storePrivately(_ head: ResponseHead, _ framing: BodyFraming, _ now: Int64) {
    let identity = RepresentationIdentity(head: head, framing: framing, receivedAt: now)
    makeBody(identity, expected: identity.total) { body in
      guard let body, let lifetime = self.request.route.policy.resumePrivate, self.leader != nil else {
        return self.passOn(head, framing, isForAll: self.saysSomethingToAll(.isPrivate, head.status))
      }
      let tag = AnswerTags.mint()
      body.addTag(TagRecord(tag: tag, limit: .max))
      let kept = StoredHead(
        request: self.request.head, response: head, requestTime: self.requestTime, responseTime: now,
        storability: .privately, asksIdentity: self.request.asksIdentity)
      let stored = StoredResponse(head: kept, body: body, storedAt: now)
      self.store.publishPrivate(
        stored, tag: tag, owner: PrivateOwner(self.request).bytes, expires: now + lifetime)
      if self.saysSomethingToAll(.isPrivate, head.status) { self.downloads.uncollapse(self.resource, in: self.store) }
      guard let fetch = self.fetch else { return }
      let fill = Fill(
        fetch, of: stored, in: self.store, on: self.downloads, route: self.request.route, seesRanges: false)
      self.fetch = nil
      fill.begin(identity, from: 0, through: nil, sharing: nil)
      self.conclude(.notShared)?.fetched(
        stored, .fetched(status: head.status, why: self.reason), setCookies: head.fields.all(.setCookie))
      fill.watchForReaders()
    }
  }
}
