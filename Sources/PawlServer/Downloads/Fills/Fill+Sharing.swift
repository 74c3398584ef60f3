import PawlCache
import PawlCacheStore
import PawlHTTP

/// Decides whether content that comes may be put together with content that other clients have.
extension Fill {
  /// Whether the origin's response to `request` may be put together with what is stored.
  static func mayGrow(_ response: StoredResponse, by request: IncomingRequest) -> Bool {
    response.personal != nil || StoredHead.isPlain(request.head.fields)
      || response.head.mayGrow(by: request.asSent, policy: request.route.policy)
  }

  /// Checks a response that continues the body by every rule that the first response has passed. If the new response may be given to fewer
  /// clients than the first one, the body is from now on only for the client of this request. If another client already has the beginning
  /// of the body, the fill ends.
  func fetch(_ fetch: OriginFetch, objectsTo head: ResponseHead) -> String? {
    // Bytes that replace lost ones count only if they match the recorded digest. So no new content is shared.
    guard !mends else { return nil }
    let now = downloads.loop.wallSeconds
    let judged =
      response.personal == nil
      ? judgeContinuedHead(
        of: response.head, by: head, request: fetch.base, policy: route.policy, requestTime: now, responseTime: now)
      : .agrees
    switch judged {
    case .agrees: return nil
    // The stored head is for one request only, so nothing that is stored for other requests changes.
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
