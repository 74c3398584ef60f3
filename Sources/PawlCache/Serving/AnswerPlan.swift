package import PawlHTTP

/// Where the answer to a GET or HEAD comes from, as far as that can be said before anything is asked (RFC 9111 §4). Which part of a
/// stored response it is made of says ``AnswerShape``; what stands in for an origin that fails, ``mayServeStaleOnError(_:policy:now:failure:)``.
package enum AnswerPlan: Hashable, Sendable {
  /// The stored response, as it is.
  case stored
  /// The stored body that the client's tag names, whatever has become of it since (`resume-ttl`).
  case opened
  /// The origin is asked whether the body that the client's tag names, which was stored for others, is this request's, too.
  case prove
  /// It is being found out whether the stored body is what the client's tag names.
  case awaitProof
  /// The stored response, stale, while the origin is asked whether it still is right (RFC 5861 §3).
  case storedWhileValidating
  /// Another's request for the same is under way, and its answer may be for both.
  case join
  /// The origin is asked, and its answer judged.
  case fetch(Renewal)
  /// The request goes to the origin as it is, for whatever it says.
  case forward(CacheStatus.ForwardReason)
  /// 504: nothing usable is stored, and the request forbids asking (RFC 9111 §5.2.1.7).
  case onlyIfCached

  /// How the origin is asked about what is stored.
  package enum Renewal: Hashable, Sendable {
    /// Nothing usable is stored.
    case miss
    /// With the stored validators.
    case validate
    /// Anew: nothing tells it what is stored.
    case refetch
  }

  /// What is known of the response that is stored and selected for a request (RFC 9111 §4.1): what it may be used for, and how much of
  /// it is here. Small: it is looked at under a lock.
  package struct Stored: Hashable, Sendable {
    let reuse: Reuse
    let missing: Missing
    let proof: Proof
    let hasTotal: Bool
    let isFilling: Bool
    /// It has no length yet, and nothing but a guess or a setting says that it may be heard by others: a second listener of a live
    /// stream wants the present, not its beginning.
    package let comesLate: Bool

    /// What of it is not here.
    package enum Missing: Hashable, Sendable {
      case nothing
      /// It is on its way, or can be asked for.
      case obtainable
      case lost
    }

    /// By what its origin can say that it still is right.
    enum Proof: Hashable, Sendable { case none, validator, strongTag }

    /// - Parameters:
    ///   - fields: the request's.
    ///   - now: wall clock, seconds since 1970.
    ///   - isFilling: more of it is on its way.
    package init(
      _ head: StoredHead, asked fields: Fields, policy: CachePolicy, now: Int64, hasTotal: Bool, missing: Missing,
      isFilling: Bool
    ) {
      reuse = Reuse.decide(head, asked: fields, policy: policy, now: now)
      (self.hasTotal, self.missing, self.isFilling) = (hasTotal, missing, isFilling)
      comesLate = !hasTotal && !head.givesLifetime && isFilling
      // What is no 200 is asked for without conditions: an origin that repeats it would say it in answer to them, and nothing but a 200
      // counts that comes so (``NotStored/conditional``).
      if head.status != 200 || !head.canBeValidated {
        proof = .none
      } else if let tag = head.validators.tag, !tag.isWeak {
        proof = .strongTag
      } else {
        proof = .validator
      }
    }

    package var canFinish: Bool { missing != .lost }

    /// While its body is still coming, only a strong tag says that it is this client's, too.
    package var renewal: Renewal {
      canFinish && (proof == .strongTag || proof == .validator && !isFilling) ? .validate : .refetch
    }
  }

  /// What a tag that the client names has to do with what is stored.
  package enum Named: Hashable, Sendable { case nothing, opened, ofOthers, awaitsProof }

  /// Whether the origin alone can say if these conditions fail (protocols 6.1, step 1): its is the 412.
  package static func isForOriginToJudge(_ fields: Fields) -> Bool {
    fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince)
  }

  /// - Parameters:
  ///   - fields: the request's.
  ///   - isShared: whether what comes of the stored response was fetched for this client, too.
  ///   - mayJoin: whether somebody asks for the same, and this request may wait for the answer.
  package static func decide(
    _ method: Method, _ fields: Fields, stored: Stored?, named: Named = .nothing,
    isShared: @autoclosure () -> Bool = false, mayJoin: @autoclosure () -> Bool = false
  ) -> AnswerPlan {
    if isForOriginToJudge(fields) { return .forward(.request) }
    switch named {
    case .opened: return .opened
    case .ofOthers: return .prove
    case .awaitsProof: return .awaitProof
    case .nothing: break
    }
    if method == .head {
      guard let stored else { return .forward(.uriMiss) }
      if stored.hasTotal, case .fresh = stored.reuse { return .stored }
      return .forward(.stale)
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
  /// Whether ``AnswerPlan`` and ``AnswerShape`` come out the same for all requests that differ only in what they accept and by whom they
  /// are sent, but for cookies where it is not for everybody.
  /// - Parameter asksIdentity: all go on with `Accept-Encoding: identity`.
  package func answersAlike(asksIdentity: Bool) -> Bool {
    implicitKey.isEmpty && !vary.isStar && (vary.names.isEmpty || asksIdentity && isOfIdentityRequests)
  }
}
