import PawlCache
import PawlHTTP
import PawlLoop
import PawlStore

/// What a request that asks for a representation as it is, or for one range of it, looks for; whatever it came over.
struct HotRequest {
  let authority: Bytes
  let target: Bytes
  let hasCookie: Bool
  /// Whether a proxy in front says what its client speaks.
  let namesScheme: Bool
}

/// A fresh, complete response that such a request gets as it stands.
struct HotResponse {
  let stored: StoredResponse
  let answer: HotAnswer
  let route: RouteSettings
  let store: CacheStore
  /// Wall clock, seconds: when it was fresh.
  let now: Int64
}

/// Where a request goes, and what is known under its key, if anything is.
struct LookedUp {
  let route: RouteSettings
  var resource: Resource?
}

extension ServerLoop {
  /// The one response that there is for the request; `nil` where anything about it takes the long way.
  /// - Parameter known: what the long way need not look up again.
  func hotResponse(_ request: HotRequest, _ facts: ClientFacts, known: inout LookedUp?) -> HotResponse? {
    guard !(request.namesScheme && facts.isTrusted),
      let route = router.route(authority: request.authority, target: request.target)
    else { return nil }
    known = LookedUp(route: route)
    guard let store = route.cache, !facts.isMisdirected(request.authority), !router.mayBeUpload(request.target),
      let resource = resource(request, facts, in: store)
    else { return nil }
    known?.resource = resource
    let only = resource.withLock { state in state.isLoaded && state.variants.count == 1 ? state.variants[0] : nil }
    guard let stored = only else { return nil }
    let now = loop.wallSeconds
    guard let answer = HotAnswer.of(stored, route, now: now), now < answer.freshUntil,
      answer.isForEverybody || !request.hasCookie
    else { return nil }
    return HotResponse(stored: stored, answer: answer, route: route, store: store, now: now)
  }

  private func resource(_ request: HotRequest, _ facts: ClientFacts, in store: CacheStore) -> Resource? {
    KeyAuthority.lend(request.authority, isSecure: facts.isSecure) { authority in
      request.target.withUnsafeBytes { store.resource(authority: authority, target: $0) }
    }
  }
}
