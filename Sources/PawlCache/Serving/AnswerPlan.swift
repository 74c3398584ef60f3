package import PawlHTTP

/// The source of the answer to a GET or HEAD, chosen before any request is sent to the origin (RFC 9111 §4). ``AnswerShape``
/// decides which part of a stored response is sent; ``mayServeStaleOnError(_:policy:now:failure:)`` decides what replaces the
/// response of an origin that fails.
package enum AnswerPlan: Hashable, Sendable {
  /// The stored response, as it is.
  case stored
  /// The stored body that the client's tag names, even if it was replaced or is stale (`resume-ttl`).
  case opened
  /// The client's tag names a stored body that was stored for other clients. The origin is asked whether this request may have
  /// that body, too.
  case prove
  /// The stored body is being compared with the body that the client's tag names; the request waits for the result.
  case awaitProof
  /// The stale stored response, while a revalidation runs in the background (RFC 5861 §3).
  case storedWhileValidating
  /// A request for the same resource is under way, and its response may answer this one, too (request collapsing).
  case join
  /// A request to the origin, whose response is judged and may be stored.
  case fetch(Renewal)
  /// The request is forwarded to the origin as it is, and the response is relayed.
  case forward(CacheStatus.ForwardReason)
  /// 504: nothing usable is stored, and the request forbids a request to the origin (RFC 9111 §5.2.1.7).
  case onlyIfCached

  /// How the request to the origin relates to the stored response.
  package enum Renewal: Hashable, Sendable {
    /// Nothing usable is stored.
    case miss
    /// A revalidation with the stored validators.
    case validate
    /// A request without conditions: the stored response has no usable validator.
    case refetch
  }

  /// The facts about the stored response that a request selects (RFC 9111 §4.1): what the response may be used for, and how much
  /// of its body is held. A small value, because it is made while a lock is held.
  package struct Stored: Hashable, Sendable {
    let reuse: Reuse
    let missing: Missing
    let proof: Proof
    let hasTotal: Bool
    let isFilling: Bool
    /// Whether the body is still arriving, its length is unknown, and the response gives no lifetime. Such a response may be a
    /// live stream: a second client needs its current bytes, not those from the beginning.
    package let comesLate: Bool

    /// Whether bytes of the body are missing, and whether they can be fetched.
    package enum Missing: Hashable, Sendable {
      case nothing
      /// The missing bytes are on their way, or can be fetched.
      case obtainable
      case lost
    }

    /// The validator by which the origin can confirm the stored response.
    enum Proof: Hashable, Sendable { case none, validator, strongTag }

    /// - Parameters:
    ///   - fields: the request's.
    ///   - now: wall clock, seconds since 1970.
    ///   - isFilling: whether missing bytes of the body are on their way.
    package init(
      _ head: StoredHead, asked fields: Fields, policy: CachePolicy, now: Int64, hasTotal: Bool, missing: Missing,
      isFilling: Bool
    ) {
      reuse = Reuse.decide(head, asked: fields, policy: policy, now: now)
      (self.hasTotal, self.missing, self.isFilling) = (hasTotal, missing, isFilling)
      comesLate = !hasTotal && !head.givesLifetime && isFilling
      // A stored response other than a 200 is requested without conditions. In response to conditions the origin would send the
      // same status again, and pawl stores only a 200 from such a response (``NotStored/conditional``).
      if head.status != 200 || !head.canBeValidated || head.isConfirmedByDateAlone(to: fields) {
        proof = .none
      } else if let tag = head.validators.tag, !tag.isWeak {
        proof = .strongTag
      } else {
        proof = .validator
      }
    }

    package var canFinish: Bool { missing != .lost }

    /// How a new request to the origin relates to this response. While the body is still coming, only a strong tag can confirm
    /// that this client may have the body, too.
    package var renewal: Renewal {
      canFinish && (proof == .strongTag || proof == .validator && !isFilling) ? .validate : .refetch
    }
  }

  /// What the tag in a request names: no stored body, a body for this client, a body for other clients, or a body that is being
  /// compared.
  package enum Named: Hashable, Sendable { case nothing, opened, ofOthers, awaitsProof }

  /// Whether a request has conditions that only the origin can evaluate. `If-Match` and `If-Unmodified-Since` are not for caches,
  /// and a 412 comes from the origin (RFC 9110 §13.2.1, RFC 9111 §4.3.2).
  package static func isForOriginToJudge(_ fields: Fields) -> Bool {
    fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince)
  }

  /// - Parameters:
  ///   - fields: the request's.
  ///   - isShared: whether this client may share the running fetch of the stored response.
  ///   - mayJoin: whether a request for the same resource is under way, and this request may wait for the response to it.
  package static func decide(
    _ method: Method, _ fields: Fields, stored: Stored?, named: Named = .nothing,
    isShared: @autoclosure () -> Bool = false, mayJoin: @autoclosure () -> Bool = false
  ) -> AnswerPlan {
    // A client that wants nothing from the origin gets nothing from there, whatever else it asks (RFC 9111 §5.2.1.7).
    func unlessOnlyIfCached(_ plan: AnswerPlan) -> AnswerPlan {
      CacheControl(fields).onlyIfCached ? .onlyIfCached : plan
    }
    if isForOriginToJudge(fields) { return unlessOnlyIfCached(.forward(.request)) }
    switch named {
    case .opened: return .opened
    case .ofOthers: return unlessOnlyIfCached(.prove)
    case .awaitsProof: return unlessOnlyIfCached(.awaitProof)
    case .nothing: break
    }
    if method == .head {
      guard let stored else { return unlessOnlyIfCached(.forward(.uriMiss)) }
      if stored.hasTotal, case .fresh = stored.reuse { return .stored }
      return unlessOnlyIfCached(.forward(.stale))
    }
    if let stored {
      let isTimely = stored.canFinish && !stored.comesLate
      switch stored.reuse {
      case .fresh where isTimely, .staleAllowed where isTimely: return .stored
      case .staleWhileRevalidate where stored.missing == .nothing: return .storedWhileValidating
      case .fresh, .staleAllowed, .staleWhileRevalidate, .validate: break
      }
      if stored.isFilling, isShared() { return .stored }
    }
    if CacheControl(fields).onlyIfCached { return .onlyIfCached }
    return mayJoin() ? .join : .fetch(stored?.renewal ?? .miss)
  }
}

extension StoredHead {
  /// Whether ``AnswerPlan`` and ``AnswerShape`` are the same for all requests that differ only in their `Accept…` fields and in
  /// their client. Where the response is not for all clients, the cookies have to be the same, too.
  /// - Parameter asksIdentity: whether all these requests are sent on with `Accept-Encoding: identity`.
  package func answersAlike(asksIdentity: Bool) -> Bool {
    implicitKey.isEmpty && !vary.isStar && (vary.names.isEmpty || asksIdentity && isOfIdentityRequests)
  }
}
