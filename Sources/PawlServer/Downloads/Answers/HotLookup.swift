import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

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

extension LoopServices {
  /// The one response that there is for the request; `nil` where anything about it takes the long way.
  /// - Parameters:
  ///   - known: what the long way need not look up again.
  ///   - wanted: where the answer may be compressed: which codings the request takes, unless it asks for a range.
  func hotResponse(
    _ request: HotRequest, _ facts: ClientFacts, known: inout LookedUp?, wanted: () -> AcceptEncoding?
  ) -> HotResponse? {
    let (authority, target) = (request.authority, request.target)
    guard !(request.namesScheme && facts.isTrusted), let route = router.route(authority: authority, target: target)
    else { return nil }
    known = LookedUp(route: route)
    guard let store = route.cache, !facts.isMisdirected(authority), !router.mayBeUpload(target) else { return nil }
    let found = KeyAuthority.lend(authority, isSecure: facts.isSecure) { authority in
      target.withUnsafeBytes { store.resource(authority: authority, target: $0) }
    }
    guard let resource = found else { return nil }
    known?.resource = resource
    let only = resource.withLock { state in state.isLoaded ? state.variants.only : nil }
    guard let stored = only else { return nil }
    let now = loop.wallSeconds
    let hot = HotAnswer.of(stored, route, now: now) {
      let key = OriginCodings.Key(route: route.serial, target: target)
      return shared.originCodings.withLock { $0.unlisted(key, at: loop.now) }
    }
    guard let answer = hot, answer.isFresh(at: now),
      answer.isForEverybody || !request.hasCookie
    else { return nil }
    if answer.isCodable, let coding = wanted()?.preferred(among: route.compression?.codings ?? []) {
      guard let form = answer.form(in: coding, of: stored, route, now: now) else { return nil }
      return HotResponse(stored: form.response, answer: form.answer, route: route, store: store, now: now)
    }
    return HotResponse(stored: stored, answer: answer, route: route, store: store, now: now)
  }
}
