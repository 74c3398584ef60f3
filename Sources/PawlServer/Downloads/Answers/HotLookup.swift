import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import Synchronization

/// A fresh, complete response that answers a request without special fields at once.
struct HotResponse {
  let stored: StoredResponse
  let answer: HotAnswer
  let route: RouteSettings
  let store: CacheStore
  /// The time at which the response was found to be fresh; wall clock, seconds.
  let now: Int64
}

/// The route of a request, and the resource under its key, if there is one.
struct LookedUp {
  let route: RouteSettings
  var resource: Resource?
  /// Whether a record in a pack (``PackRoom/hit``) is the answer. Its head was made when the body was stored, so nothing else is looked up.
  var isRecord = false
}

extension LoopServices {
  /// Returns the only response that is stored for the request. `nil` if anything about the request needs the full lookup of a
  /// ``DownloadExchange``, or if a record of a pack answers it (``LookedUp/isRecord``).
  /// - Parameters:
  ///   - known: receives what the full lookup need not look up again.
  ///   - takesRecords: whether a record of a pack may be sent as it is.
  ///   - wanted: returns the codings that the request accepts; `nil` if it asks for a range. Called only if the answer may be compressed.
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
  /// Returns the response of a resource that has only one response; otherwise `nil`.
  @inline(__always)
  private func only(of resource: Resource, in store: CacheStore) -> StoredResponse? {
    let (isLoaded, only) = resource.withLock { state in (state.isLoaded, state.isLoaded ? state.variants.only : nil) }
    if isLoaded { return only }
    store.loadAtOnce(resource)
    return resource.withLock { state in state.isLoaded ? state.variants.only : nil }
  }
}

// MARK: - Answers in packs

extension HotAnswer {
  /// The version of the data that a pack keeps of an answer. It has to be increased when the decision or the format changes.
  static let version = 2

  private static let forEverybody: UInt64 = 1, codable: UInt64 = 2, learnable: UInt64 = 4, dated: UInt64 = 8

  /// Returns what is kept in a pack with the record of a body; `nil` if the answer depends on more than the URL.
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

  /// Whether the record may be sent now, as it is, to a request of this route.
  static func isHeld(_ hit: PackedHit, _ route: RouteSettings, now: Int64, hasCookie: Bool) -> Bool {
    hit.settings == route.fingerprint && hit.from <= now && now < hit.until
      && (hit.flags & forEverybody != 0 || !hasCookie)
      && !(hit.flags & learnable != 0 && route.compression?.hasLearnt.load(ordering: .relaxed) == true)
  }

  /// Whether requests that accept a content coding get a coded form.
  static func isCodable(_ hit: PackedHit) -> Bool { hit.flags & codable != 0 }
  /// Whether pawl may still learn that the origin compresses this type of content.
  static func mayBeLearnt(_ hit: PackedHit) -> Bool { hit.flags & learnable != 0 }
  static func hasDate(_ hit: PackedHit) -> Bool { hit.flags & dated != 0 }
}
