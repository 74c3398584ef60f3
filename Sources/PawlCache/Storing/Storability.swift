package import PawlHTTP

/// Why a response is not stored for other requests; the raw value is the word of the event log and of `Cache-Status` details.
package enum NotStored: String, CaseIterable, Hashable, Sendable {
  case method
  case status
  /// `text/event-stream` or `multipart/x-mixed-replace`: the content never ends.
  case liveStream = "live-stream"
  /// Larger than `max-object`.
  case tooLarge = "too-large"
  case noStore = "no-store"
  case requestNoStore = "request-no-store"
  case isPrivate = "private"
  /// The request had a credential, and the response does not permit sharing (RFC 9111 §3.5). Or the request names its user in
  /// another field, and the response has `no-cache` and no tag by which the origin could confirm it to somebody else.
  case authorization
  case varyStar = "vary-star"
  /// The response sets a cookie, and does not address shared caches explicitly.
  case setCookie = "set-cookie"
  /// The status is not 200, and the response has no freshness, validator or permission for stale use. So it would never be used
  /// again.
  case noFreshness = "no-freshness"
  /// The request to the origin had a range or a condition, and the response is not a 200. So it does not show what a plain
  /// request would get.
  case conditional
  /// The request has a field that overrides its method, URL or host in some applications.
  case override
}

extension NotStored {
  /// The rule that keeps the response from being stored, in words.
  package var rule: String {
    switch self {
    case .method: "the method is not GET, or a POST without Content-Location (RFC 9111 §3, RFC 9110 §9.3.3)"
    case .status: "the status is not final, or 206 or 304 (RFC 9111 §3)"
    case .liveStream: "an event stream, which never ends"
    case .tooLarge: "larger than max-object"
    case .noStore: "the response has Cache-Control: no-store (RFC 9111 §5.2.2.5)"
    case .requestNoStore: "the request has Cache-Control: no-store (RFC 9111 §5.2.1.5)"
    case .isPrivate: "the response has Cache-Control: private (RFC 9111 §5.2.2.7)"
    case .authorization: "the request has a credential, and the response does not permit sharing (RFC 9111 §3.5)"
    case .varyStar: "the response has Vary: * (RFC 9111 §4.1)"
    case .setCookie: "the response sets a cookie, and has neither public nor s-maxage (RFC 6265 §3, RFC 9111 §7.3)"
    case .noFreshness: "not a 200, without freshness or validator: it would never be used again (RFC 9111 §3)"
    case .conditional: "the request had a range or a condition, and the answer is not a 200 (RFC 9111 §3.3)"
    case .override: "the request has a field that overrides its method, URL or host"
    }
  }
}

/// Whether a response is stored, and for which requests (RFC 9111 §3).
package enum Storability: Hashable, Sendable {
  /// For all requests.
  case shared
  /// For requests with the same cookies: the request had cookies, and the response is not for all clients.
  case sharedPerCookie
  /// For each request to which the origin confirms these bytes by a 304 with their strong tag: the response sets a cookie, which
  /// is for one client.
  case sharedOnceConfirmed
  /// Only so that its own user can fetch the rest of the body (`resume-private`); never found by its URL.
  case privately
  case no(NotStored)

  /// Whether other requests find the response by its URL.
  package var isForOthers: Bool {
    switch self {
    case .shared, .sharedPerCookie, .sharedOnceConfirmed: true
    case .privately, .no: false
    }
  }

  /// Decides whether and for which requests a response is stored. A 200 to a GET is stored even when it is never fresh: if its
  /// transfer breaks off, the rest may be requested later.
  /// - Parameters:
  ///   - framing: the framing of the response; it may give a length above `max-object`.
  ///   - isConditional: whether the request to the origin had a range or a condition, the client's or pawl's own. Then only a
  ///     200 shows what a plain request would get (RFC 9111 §3.3, §4.3).
  ///   - receivedAt: wall clock, seconds since 1970; replaces a missing `Date`.
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

  /// The first reason against storing the response for other requests. Reasons against any storing, even for one user, come
  /// first.
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
      // Beside `must-understand`, `no-store` is only for caches that do not know `must-understand` (RFC 9111 §5.2.2.3).
      if !StatusRules.isUnderstood(response.status) { return .noStore }
    } else if control.noStore {
      return .noStore
    }
    if CacheControl(request.fields).noStore { return .requestNoStore }
    if control.isPrivate { return .isPrivate }
    if RequestFields.hasCredential(request.fields), !permitsAuthorized(control) { return .authorization }
    if isConfirmedByDateAlone(fields, directives), Credentials.areShown(in: request.fields, besides: VaryRule(fields)) {
      return .authorization
    }
    if RequestFields.hasOverride(request.fields) { return .override }
    if VaryRule(fields).isStar { return .varyStar }
    // Applications set cookies together with pages for one user; a lifetime alone does not make such a page public.
    if fields.contains(.setCookie), !directives.isSharedExplicitly { return .setCookie }
    return nil
  }

  /// Whether each use of the response needs a confirmation, and the origin can give it only for a date. That proves nothing about
  /// who may have the bytes: pages that differ for each user may have the same date.
  private static func isConfirmedByDateAlone(_ fields: Fields, _ directives: ResponseDirectives) -> Bool {
    directives.cacheControl.noCache && !directives.isSharedExplicitly && !fields.contains(.etag)
  }

  /// Whether the response to this method may be stored. Yes for GET; for POST only if `Content-Location` says that a GET of the
  /// same URL gets the same response (RFC 9110 §9.3.3).
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

  /// Whether a response to a request with a credential may be shared (RFC 9111 §3.5).
  static func permitsAuthorized(_ control: CacheControl) -> Bool {
    control.isPublic || control.sMaxAge != nil || control.mustRevalidate
  }

  /// A reason against storing a response that is never resumed: it is never fresh, and can be neither revalidated nor used stale.
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

  /// Whether `resume-private` covers a response: a 200 to a GET that only its own user may have.
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
