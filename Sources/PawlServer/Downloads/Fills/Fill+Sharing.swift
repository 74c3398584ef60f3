import PawlCache
import PawlCacheStore
import PawlHTTP

/// Whether what comes may be put with what others have.
extension Fill {
  /// Whether what the origin answers to `request` may be put with what is stored.
  static func mayGrow(_ response: StoredResponse, by request: IncomingRequest) -> Bool {
    response.personal != nil || StoredHead.isPlain(request.head.fields)
      || response.head.mayGrow(by: request.asSent, policy: request.route.policy)
  }

  /// An answer that goes on with the body passes every rule that the first one passed. Where it is narrower, the body is from now on for
  /// the one client whose request this is, if nobody else has its beginning; else it ends.
  func fetch(_ fetch: OriginFetch, objectsTo head: ResponseHead) -> String? {
    // What is lost counts only where it is what was recorded: nothing new comes to be shared.
    guard !mends else { return nil }
    let now = downloads.loop.wallSeconds
    let judged =
      response.personal == nil
      ? judgeContinuedHead(
        of: response.head, by: head, request: fetch.base, policy: route.policy, requestTime: now, responseTime: now)
      : .agrees
    switch judged {
    case .agrees: return nil
    // What one request was told, and is told now, is in nobody else's answer.
    case .freshens where response.isOfOneRequest: return nil
    case .freshens(let newer):
      _ = store.updateHead(response, head: newer)
      return nil
    case .narrower(let why):
      guard !isSpan else { return why.rawValue }
      store.forget(response)
      guard coordinator?.narrow(to: ObjectIdentifier(fetch.request)) == true else { return why.rawValue }
      downloads.events.log(
        .notice, "fill-narrowed", ["upstream": route.upstreamName, "body": body.id.hex, "why": why.rawValue])
      return nil
    }
  }
}
