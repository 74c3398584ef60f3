import PawlCache
import PawlCacheStore
import PawlHTTP

/// What is on disk may be damaged. Before the head goes out, the first bytes that the answer needs are read back: what is
/// damaged is mended, or something else is looked for, while the client can still be given either. Behind the head its reader
/// mends what it comes to.
extension DownloadExchange: BodyConsumer {
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
    // A part that is long in coming is not waited for behind others that are here.
    if start > 0 { armPatience() }
    keep(stored, from: start)
    keeper?.consumer = self
    enter(.waiting(for: .bytes, of: stored, nil))
    // Those that wait for the same place are told one after the other: not within this turn.
    request.loop.loop.nextTurn { [weak self] in self?.bodyIsReady() }
    return true
  }

  func bodyIsReady() {
    guard state.hears(.came(.bytes)), case .waiting(_, let stored, _) = state, let keeper, !channel.hasResponded
    else { return }
    let isLost = keeper.start.map { stored.body.lostRun(at: $0) != nil } ?? false
    if isLost, CacheControl(request.head.fields.all(.cacheControl)).onlyIfCached, let resource {
      letKeeperGo()
      enter(.deciding)
      return act(on: .onlyIfCached, of: resource)
    }
    switch keeper.prepare() {
    case .later: break
    case .ready: serve(stored, served)
    case .failed: cannotServe(stored)
    }
  }

  /// Nothing has been promised yet. What turned out to be gone, or to be another thing by now, has left the index; where the
  /// rest cannot be had now, or the file cannot be read, the client gets whatever the origin says.
  private func cannotServe(_ stored: StoredResponse) {
    letKeeperGo()
    guard stored.body.failure != nil, !hasLookedAgain else { return passUnkept() }
    hasLookedAgain = true
    look()
  }
}
