import PawlCache
import PawlCacheStore
import PawlHTTP

/// Verifies stored bytes before the head is sent, because the disk may have damaged them. The first bytes that the answer needs are read
/// back. If they are damaged, they are fetched again, or another response is looked for. After the head was sent, the client could not get
/// another response; the reader then fetches damaged bytes again when it comes to them.
extension DownloadExchange: BodyConsumer {
  /// Reads back the first bytes of the answer, unless they are verified already.
  /// - Returns: whether the answer has to wait; it is then served again.
  func provesFirst(_ stored: StoredResponse, _ answer: StoredAnswer) -> Bool {
    let body = stored.body
    guard request.head.method == .get, let start = answer.firstByte else { return false }
    switch body.availability(at: start) {
    case .bytes, .ended: return false
    case .missing where body.lostRun(at: start) == nil: return false
    case .failed where served.arrival?.isJustFetched == true: return false
    case .missing, .checking, .failed: break
    }
    // A client that asked for a part waits for ``patience`` at most. After that it gets the complete body from byte 0.
    if start > 0 { armPatience() }
    keep(stored, from: start)
    keeper?.consumer = self
    enter(.waiting(for: .bytes, of: stored, nil))
    // Requests that wait for the same bytes are called back one after the other. So this request begins in the next turn, not inside of
    // such a callback.
    request.loop.loop.nextTurn { [weak self] in self?.bodyIsReady() }
    return true
  }

  func bodyIsReady() {
    guard state.hears(.came(.bytes)), case .waiting(_, let stored, _) = state, let keeper, !channel.hasResponded
    else { return }
    let isLost = keeper.start.map { stored.body.lostRun(at: $0) != nil } ?? false
    if isLost, CacheControl(request.head.fields.all(.cacheControl)).onlyIfCached, let resource {
      removePlaceholder()
      enter(.deciding)
      return act(on: .onlyIfCached, of: resource)
    }
    switch keeper.prepare() {
    case .later: break
    case .ready: serve(stored, served)
    case .failed: cannotServe(stored)
    }
  }

  /// Finds another answer, because these bytes cannot be served and no head was sent yet. A body that is gone, or that has changed, has
  /// left the index, so the resource is looked up once more. If the rest cannot be fetched now, or the file cannot be read, the client gets
  /// the origin's response.
  private func cannotServe(_ stored: StoredResponse) {
    removePlaceholder()
    guard stored.body.failure != nil, !hasLookedAgain else { return forwardUnstored() }
    hasLookedAgain = true
    look()
  }
}
