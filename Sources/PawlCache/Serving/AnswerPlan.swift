package import PawlHTTP

/// Where the answer to a GET or HEAD comes from, as far as that can be said before anything is asked (RFC 9111 §4). Which part of a
/// stored response it is made of says ``AnswerShape``; what stands in for an origin that fails, ``mayServeStaleOnError(_:policy:now:failure:)``.
package enum AnswerPlan: Hashable, Sendable {
  /// The stored response, as it is.
  case stored
  /// The stored body that the client's tag names, whatever has become of it since (`resume-ttl`).
  case opened
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

  /// What is stored and selected for the request (RFC 9111 §4.1), and how much of it is here.
  package struct Stored {
    package var head: StoredHead
    package var hasTotal: Bool
    package var missing: Missing
    /// More of it is on its way.
    package var isFilling: Bool

    /// What of it is not here.
    package enum Missing: Hashable, Sendable {
      case nothing
      /// It is on its way, or can be asked for.
      case obtainable
      case lost
    }

    package init(_ head: StoredHead, hasTotal: Bool, missing: Missing, isFilling: Bool) {
      (self.head, self.hasTotal, self.missing, self.isFilling) = (head, hasTotal, missing, isFilling)
    }

    /// All of it is here.
    package init(whole head: StoredHead) { self.init(head, hasTotal: true, missing: .nothing, isFilling: false) }

    package var canFinish: Bool { missing != .lost }

    /// It has no length yet, and nothing but a guess or a setting says that it may be heard by others: a second listener of a live
    /// stream wants the present, not its beginning.
    package var comesLate: Bool { !hasTotal && !head.givesLifetime && isFilling }

    /// What is no 200 is asked for without conditions: an origin that repeats it would say it in answer to them, and nothing but a 200
    /// counts that comes so (``NotStored/conditional``). While its body is still coming, only a strong tag says that it is this client's,
    /// too.
    package var renewal: Renewal {
      let isTelling = head.status == 200 && (head.validators.tag.map { !$0.isWeak } ?? false || !isFilling)
      return canFinish && isTelling && !head.conditions.isEmpty ? .validate : .refetch
    }
  }

  /// What a tag that the client names has to do with what is stored.
  package enum Named: Hashable, Sendable { case nothing, opened, awaitsProof }

  /// Whether the origin alone can say if these conditions fail (protocols 6.1, step 1): its is the 412.
  package static func isForOriginToJudge(_ fields: Fields) -> Bool {
    fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince)
  }

  /// - Parameters:
  ///   - now: wall clock, seconds since 1970.
  ///   - isShared: whether what comes of the stored response was fetched for this client, too.
  ///   - mayJoin: whether somebody asks for the same, and this request may wait for the answer.
  package static func decide(
    _ request: RequestHead, policy: CachePolicy, now: Int64, stored: Stored?, named: Named = .nothing,
    isShared: @autoclosure () -> Bool = false, mayJoin: @autoclosure () -> Bool = false
  ) -> AnswerPlan {
    if isForOriginToJudge(request.fields) { return .forward(.request) }
    switch named {
    case .opened: return .opened
    case .awaitsProof: return .awaitProof
    case .nothing: break
    }
    let reuse = stored.map { Reuse.decide($0.head, request: request, policy: policy, now: now) }
    if request.method == .head {
      guard let stored else { return .forward(.uriMiss) }
      if stored.hasTotal, case .fresh? = reuse { return .stored }
      return .forward(.stale)
    }
    if let stored {
      let isTimely = stored.canFinish && !stored.comesLate
      switch reuse {
      case .fresh? where isTimely, .staleAllowed? where isTimely: return .stored
      case .staleWhileRevalidate? where stored.missing == .nothing: return .storedWhileValidating
      case .fresh?, .staleAllowed?, .staleWhileRevalidate?, .validate?, nil: break
      }
      if stored.isFilling, isShared() { return .stored }
    }
    if CacheControl(request.fields).onlyIfCached { return .onlyIfCached }
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
