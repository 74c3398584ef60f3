import PawlCache

/// Joins two incomplete bodies of one representation, each held from byte zero. There are two if a fetch that should have
/// replaced an incomplete body broke off itself, with fewer bytes than that body. If the shorter body is equal to the beginning
/// of the longer one, the longer one stays and gets the tags of both.
struct Reunion {
  let core: StoreCore

  /// Joins the responses that were recorded under one key, and returns those that are left. Blocking.
  func join(_ responses: [StoredResponse]) -> [StoredResponse] {
    var left = responses
    // The newest part comes first, and is compared with each older one.
    let parts = responses.filter(Self.isPart).sorted { $0.body.number > $1.body.number }
    for (place, newer) in parts.enumerated() {
      for older in parts[(place + 1)...] where areOne(newer, older) {
        let isLonger = newer.body.held.prefix >= older.body.held.prefix
        let (kept, gone) = isLonger ? (newer, older) : (older, newer)
        left.removeAll { $0.body.number == gone.body.number }
        core.unite(kept.body, with: gone.body, upTo: gone.body.held.prefix)
        guard !isLonger, let index = left.firstIndex(where: { $0.body.number == kept.body.number }) else { continue }
        left[index] = kept.current
        core.record([.current(kept.body.number)], of: kept.body)
        // The kept part is compared with the remaining older parts in its own round of the outer loop.
        break
      }
    }
    return left
  }

  private static func isPart(_ response: StoredResponse) -> Bool {
    response.personal == nil && response.head.status == 200 && !response.head.isStronglyValidated
      && !response.body.isComplete && response.body.failure == nil && response.body.held.prefix > 0
  }

  private func areOne(_ a: StoredResponse, _ b: StoredResponse) -> Bool {
    guard Self.isPart(a), Self.isPart(b), a.head.selector == b.head.selector, a.head.coding == b.head.coding,
      a.body.total == nil || b.body.total == nil || a.body.total == b.body.total
    else { return false }
    let end = min(a.body.held.prefix, b.body.held.prefix)
    var position: UInt64 = 0
    while position < end {
      let next = min(end, position + SegmentTable.span)
      guard core.haveSame(position..<next, a.body, b.body) else { return false }
      position = next
    }
    return true
  }
}

extension StoreCore {
  /// Gives `kept` the tags of `gone`, and drops `gone` when the tags are recorded. Both bodies are equal up to `end`, the end of
  /// `gone`.
  func unite(_ kept: StoredBody, with gone: StoredBody, upTo end: UInt64) {
    events.log(.info, "bodies-merged", ["body": kept.id.hex, "with": gone.id.hex, "compared": "\(end)"])
    kept.inheritTags(of: gone, upTo: gone.reach(end), isWhole: false, isMinted: { TagRecord.isOwn($0) }) { [self] in
      drop(gone)
    }
  }
}

extension CacheStore {
  /// Makes an incomplete response current again. The fetch that should have replaced it ended with fewer bytes than `old` has,
  /// and these bytes are equal to the beginning of `old`.
  package func reinstate(_ old: StoredResponse, insteadOf new: StoredResponse, upTo end: UInt64) {
    guard let key = new.body.state.withLock({ $0.home }), let resource = index.find(key, create: false) else { return }
    let gone = resource.withLock { state -> [StoredResponse]? in
      guard state.variants.response(of: new.body) != nil,
        let kept = state.superseded.first(where: { $0.body.number == old.body.number })
      else { return nil }
      state.variants.remove(new.body)
      state.superseded.removeAll { $0.body.number == old.body.number }
      return state.variants.insert(kept.current)
    }
    guard let gone else { return }
    core.record([.current(old.body.number)], of: old.body)
    for response in gone { core.drop(response.body) }
    core.unite(old.body, with: new.body, upTo: end)
  }
}

extension StoredResponse {
  /// The same response as a current one, not superseded.
  fileprivate var current: StoredResponse {
    StoredResponse(head: head, body: body, storedAt: storedAt, personal: personal, supersededAt: nil)
  }
}
