package import PawlHTTP

/// Why a response is not kept for others; the raw value is the word of the event log and of `Cache-Status` details.
package enum NotStored: String, CaseIterable, Hashable, Sendable {
  case method
  case status
  /// `text/event-stream`, `multipart/x-mixed-replace`: it never ends.
  case liveStream = "live-stream"
  /// Larger than `max-object`.
  case tooLarge = "too-large"
  case noStore = "no-store"
  case requestNoStore = "request-no-store"
  case isPrivate = "private"
  /// The request was authorised, and the response does not permit sharing (RFC 9111 §3.5).
  case authorization
  case varyStar = "vary-star"
  /// It sets a cookie and does not say to shared caches that it is for everybody.
  case setCookie = "set-cookie"
  /// Another status than 200 that would never be used again.
  case noFreshness = "no-freshness"
  /// The answer to a request with a range or a condition, and neither the whole nor a part of what was asked for.
  case conditional
  /// The request names another method, URL or host than its own, for applications that read such fields.
  case override
}

/// Whether a response is kept, and for whom (RFC 9111 §3).
package enum Storability: Hashable, Sendable {
  /// For everybody.
  case shared
  /// For requests with the same cookies: the request had some, and the response does not say that it is for everybody.
  case sharedPerCookie
  /// For each request to which the origin says that these bytes are its own, by a 304 with their strong tag: the answer sets a cookie,
  /// which is one client's.
  case sharedOnceConfirmed
  /// For the rest of this very body, for its own user (`resume-private`); never found by URL.
  case privately
  case no(NotStored)

  /// Whether it is found by its URL.
  package var isForOthers: Bool {
    switch self {
    case .shared, .sharedPerCookie, .sharedOnceConfirmed: true
    case .privately, .no: false
    }
  }

  /// A 200 to a GET is kept even when it is never fresh: half of it may be asked for again.
  /// - Parameters:
  ///   - framing: of the response; a length over `max-object` is told by it.
  ///   - isConditional: whether the origin was asked with a range or a condition, the client's or pawl's own. Then nothing but
  ///     a 200 says what a plain request would be given (RFC 9111 §3.3, §4.3).
  ///   - receivedAt: wall clock, seconds since 1970; stands in for a missing `Date`.
  package static func decide(
    request: RequestHead, response: ResponseHead, framing: BodyFraming, isConditional: Bool = false,
    policy: CachePolicy, receivedAt: Int64
  ) -> Storability {
    let directives = ResponseDirectives(response.fields)
    let isForEverybody = directives.meansEverybody(response.fields, receivedAt: receivedAt)
    let obstacle =
      (isConditional && response.status != 200 ? NotStored.conditional : nil)
      ?? obstacle(request, response, framing, directives, policy)
      ?? uselessness(request, response, directives, policy, receivedAt)
    if obstacle == .setCookie, isStronglyTagged(request, response) { return .sharedOnceConfirmed }
    if let reason = obstacle {
      return mayBeKeptPrivately(request, response, reason, policy) ? .privately : .no(reason)
    }
    return request.fields.contains(.cookie) && !isForEverybody ? .sharedPerCookie : .shared
  }

  private static func isStronglyTagged(_ request: RequestHead, _ response: ResponseHead) -> Bool {
    guard request.method == .get, response.status == 200 else { return false }
    return response.fields.only(.etag).flatMap(EntityTag.init).map { !$0.isWeak } ?? false
  }

  /// The first thing that forbids keeping it for others. What forbids it altogether comes first.
  private static func obstacle(
    _ request: RequestHead, _ response: ResponseHead, _ framing: BodyFraming, _ directives: ResponseDirectives,
    _ policy: CachePolicy
  ) -> NotStored? {
    let (fields, control) = (response.fields, directives.cacheControl)
    if response.status < 200 || response.status == 206 || response.status == 304 { return .status }
    guard isMethodCacheable(request, response, directives) else { return .method }
    if LiveStream.isOne(fields) { return .liveStream }
    if case .length(let length) = framing, policy.maxObject > 0, length > policy.maxObject { return .tooLarge }
    if control.mustUnderstand {
      // It may say `no-store` too, for caches that do not know must-understand (RFC 9111 §5.2.2.3).
      if !StatusRules.isUnderstood(response.status) { return .noStore }
    } else if control.noStore {
      return .noStore
    }
    if CacheControl(request.fields).noStore { return .requestNoStore }
    if control.isPrivate { return .isPrivate }
    if RequestFields.hasCredential(request.fields), !permitsAuthorized(control) { return .authorization }
    if RequestFields.hasOverride(request.fields) { return .override }
    if VaryRule(fields).isStar { return .varyStar }
    // Applications set cookies with the pages that are one user's; a lifetime alone takes nothing of that back.
    if fields.contains(.setCookie), !directives.isSharedExplicitly { return .setCookie }
    return nil
  }

  /// GET; and POST where the answer says that it is what a GET of the same URL would be given (RFC 9110 §9.3.3).
  private static func isMethodCacheable(
    _ request: RequestHead, _ response: ResponseHead, _ directives: ResponseDirectives
  ) -> Bool {
    if request.method == .get { return true }
    guard request.method == .post, response.status == 200,
      directives.explicitLifetime(response.fields, receivedAt: 0) != nil,
      let location = response.fields.only(.contentLocation)
    else { return false }
    return resolveSameAuthority(location, base: request) == request.target
  }

  /// RFC 9111 §3.5.
  static func permitsAuthorized(_ control: CacheControl) -> Bool {
    control.isPublic || control.sMaxAge != nil || control.mustRevalidate
  }

  /// Whether a response that nobody resumes is worth its place: fresh for a while, or able to be validated or used stale.
  private static func uselessness(
    _ request: RequestHead, _ response: ResponseHead, _ directives: ResponseDirectives, _ policy: CachePolicy,
    _ receivedAt: Int64
  ) -> NotStored? {
    if request.method == .get, response.status == 200 { return nil }
    let fields = response.fields
    guard let lifetime = directives.explicitLifetime(fields, receivedAt: receivedAt) else {
      let validators = Validators(fields, receivedAt: receivedAt)
      let heuristic = Freshness.heuristicLifetime(
        status: response.status, isPublic: directives.cacheControl.isPublic, lastModified: validators.lastModified,
        date: validators.date ?? receivedAt, policy: policy)
      return heuristic > 0 ? nil : .noFreshness
    }
    if lifetime > 0 { return nil }
    let control = directives.cacheControl
    let isUsefulStale = control.staleIfError != nil || control.staleWhileRevalidate != nil
    return fields.contains(.etag) || fields.contains(.lastModified) || isUsefulStale ? nil : .noFreshness
  }

  /// What `resume-private` covers: the whole answer to a GET that only its own user may have.
  private static func mayBeKeptPrivately(
    _ request: RequestHead, _ response: ResponseHead, _ reason: NotStored, _ policy: CachePolicy
  ) -> Bool {
    guard policy.resumePrivate != nil, request.method == .get, response.status == 200 else { return false }
    switch reason {
    case .isPrivate, .authorization, .varyStar, .setCookie: return true
    case .noStore, .requestNoStore: return policy.resumePrivateNoStore
    case .method, .status, .liveStream, .tooLarge, .noFreshness, .conditional, .override: return false
    }
  }
}
