import PawlCacheStore
import PawlLoop

/// Keeps the entity tag of a body that was fetched anew with the same bytes. Each new tag would be one more alias to remember.
extension DownloadExchange {
  /// Delays the answer until a short body was compared with the one it replaces, so that its tag is known. A longer body is answered at
  /// once with a new tag, which becomes an alias of the old tag if the bodies are found equal.
  /// - Returns: whether the answer has to wait; it is then served again.
  func awaitsName(_ stored: StoredResponse) -> Bool {
    guard !hasWaitedForName, let twin = FillCoordinator.existing(stored)?.comparison, twin.isShort else {
      return false
    }
    let reference = LoopWeak(self, on: request.loop.loop)
    guard twin.wait({ reference.run { $0.nameIsKnown(stored) } }) else { return false }
    let timer = request.loop.loop.makeTimer { [weak self] in self?.nameIsKnown(stored) }
    timer.schedule(after: TwinComparison.shortPatience)
    hasWaitedForName = true
    enter(.waiting(for: .name, of: stored, timer))
    return true
  }

  private func nameIsKnown(_ stored: StoredResponse) {
    if state.hears(.came(.name), of: stored) { serve(stored, served) }
  }
}
