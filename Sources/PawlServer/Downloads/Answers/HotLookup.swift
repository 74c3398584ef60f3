import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import Synchronization

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
  /// There is an answer that is at rest, as it was decided when it was stored (``PackRoom/hit``); nothing else is looked up then.
  var isRecord = false
}

extension LoopServices {
  /// The one response that there is for the request; `nil` where anything about it takes the long way, or an answer that is at rest
  /// can be given as it stands (``LookedUp/isRecord``).
  /// - Parameters:
  ///   - known: what the long way need not look up again.
  ///   - takesRecords: whether what is at rest can be given as it stands.
  ///   - wanted: where the answer may be compressed: which codings the request takes, unless it asks for a range.
  func hotResponse(
    _ request: HotRequest, _ facts: ClientFacts, known: inout LookedUp?, takesRecords: Bool,
    wanted: () -> AcceptEncoding?
  ) -> HotResponse? {
    let (authority, target, hasCookie) = (request.authority, request.target, request.hasCookie)
    guard !(request.namesScheme && facts.isTrusted), let route = router.route(authority: authority, target: target)
    else { return nil }
    known = LookedUp(route: route)
    guard let store = route.cache, !facts.isMisdirected(authority), !router.mayBeUpload(target) else { return nil }
    let room = takesRecords ? room : nil
    var looked = KeyAuthority.lend(authority, isSecure: facts.isSecure) { authority in
      target.withUnsafeBytes { store.look(authority: authority, target: $0, in: room, now: loop.now) }
    }
    if case .record? = looked {
      if let hit = room?.hit, HotAnswer.isHeld(hit, route, now: loop.wallSeconds, hasCookie: hasCookie) {
        known?.isRecord = true
        return nil
      }
      looked = KeyAuthority.lend(authority, isSecure: facts.isSecure) { authority in
        target.withUnsafeBytes { store.look(authority: authority, target: $0, in: nil, now: loop.now) }
      }
    }
    guard case .resource(let resource)? = looked else { return nil }
    known?.resource = resource
    guard let stored = only(of: resource, in: store) else { return nil }
    let now = loop.wallSeconds
    guard let answer = HotAnswer.of(stored, route, now: now), answer.isFresh(at: now),
      answer.isForEverybody || !hasCookie
    else { return nil }
    if answer.mayBeLearnt, let compression = route.compression,
      compression.hasLearnt.load(ordering: .relaxed) || wanted() != nil && compression.seeks(at: now)
    {
      return nil
    }
    if answer.isCodable, let coding = wanted()?.preferred(among: route.compression?.codings ?? []) {
      guard let form = answer.form(in: coding, of: stored, route, now: now) else { return nil }
      return HotResponse(stored: form.response, answer: form.answer, route: route, store: store, now: now)
    }
    return HotResponse(stored: stored, answer: answer, route: route, store: store, now: now)
  }
}

extension LoopServices {
  /// The one response that there is of a resource.
  @inline(__always)
  private func only(of resource: Resource, in store: CacheStore) -> StoredResponse? {
    let (isLoaded, only) = resource.withLock { state in (state.isLoaded, state.isLoaded ? state.variants.only : nil) }
    if isLoaded { return only }
    store.loadAtOnce(resource)
    return resource.withLock { state in state.isLoaded ? state.variants.only : nil }
  }
}

// MARK: - At rest

extension HotAnswer {
  /// Changes with what is decided, and with how it is written down.
  static let version = 2

  private static let forEverybody: UInt64 = 1, codable: UInt64 = 2, learnable: UInt64 = 4, dated: UInt64 = 8

  /// What is kept with the record that a body becomes; `nil` where its answer depends on more than its URL.
  static func record(_ stored: StoredResponse, _ route: RouteSettings, now: Int64) -> PackedAnswer? {
    guard stored.personal == nil, let whole = whole(of: stored, route, now: now) else { return nil }
    let head = stored.head
    let flags =
      (head.isForEverybody ? forEverybody : 0) | (whole.isCodable ? codable : 0)
      | (whole.mayBeLearnt ? learnable : 0) | (head.fields.contains(.date) ? dated : 0)
    return PackedAnswer(
      settings: route.fingerprint, from: whole.window.from, until: whole.window.until, born: whole.window.born,
      flags: flags, head: whole.head)
  }

  /// Whether that may be given now, to such a request of this route that wants it as it is.
  static func isHeld(_ hit: PackedHit, _ route: RouteSettings, now: Int64, hasCookie: Bool) -> Bool {
    hit.settings == route.fingerprint && hit.from <= now && now < hit.until
      && (hit.flags & forEverybody != 0 || !hasCookie)
      && !(hit.flags & learnable != 0 && route.compression?.hasLearnt.load(ordering: .relaxed) == true)
  }

  /// Whether requests that take a content coding get it in that.
  static func isCodable(_ hit: PackedHit) -> Bool { hit.flags & codable != 0 }
  /// Whether it is of a type that its route's origin may be found to compress.
  static func mayBeLearnt(_ hit: PackedHit) -> Bool { hit.flags & learnable != 0 }
  static func hasDate(_ hit: PackedHit) -> Bool { hit.flags & dated != 0 }
}
