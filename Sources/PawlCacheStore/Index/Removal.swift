import PawlCache
import PawlDisk

/// Removal of objects from the cache.
extension StoreCore {
  /// Removes a body from the index: look-ups do not find it any more.
  func removeFromIndex(_ body: StoredBody) {
    guard let key = body.state.withLock({ $0.home }), let resource = index.find(key, create: false) else { return }
    resource.withLock { $0.removeAll(of: body) }
    index.removeIfEmpty(resource)
  }

  /// Removes an object whose body is not in memory. Called in the pool.
  /// - Parameter charge: the charge of the object in the budget.
  /// - Returns: `false` if the object is already being removed, and is not charged any more.
  func remove(_ row: ObjectRow, _ charge: @autoclosure () -> DiskCharge) -> Bool {
    guard doomed.withLock({ $0.insert(row.number).inserted }) else { return false }
    recordRemoval(of: row.number)
    BodyFile.remove(row.id, self, charge())
    return true
  }

  /// Evicts an idle object; its bytes are free when this function returns. Blocking; called in the pool.
  /// - Returns: `false` if the object is in use or already being removed.
  func evict(_ candidate: EvictionCandidate) -> Bool {
    guard doomed.withLock({ $0.insert(candidate.number).inserted }) else { return false }
    switch index.presence(of: candidate.keyHash) {
    case .unmarked: break
    case .inMemory(let resources):
      switch detach(candidate, from: resources) {
      case .busy:
        doomed.withLock { $0.remove(candidate.number) }
        return false
      case .body(let body):
        for resource in resources { index.removeIfEmpty(resource) }
        guard body.doom() else { return false }
        dropForms(of: body)
        guard body.state.withLock({ $0.place.isFile }) else {
          body.removeBytes()
          return true
        }
        BodyFile.unlink(candidate.id, self)
        body.charge.release()
        return true
      case .notLoaded: break
      }
    }
    recordRemoval(of: candidate.number)
    BodyFile.unlink(candidate.id, self)
    budget.uncharge(candidate.held + DiskBudget.objectOverhead)
    return true
  }

  private enum Detachment { case busy, notLoaded, body(StoredBody) }

  private func detach(
    _ candidate: EvictionCandidate, from resources: [Resource]
  ) -> Detachment {
    for resource in resources {
      let found = resource.withLock { state -> Detachment? in
        if !state.loads.isEmpty { return .busy }
        guard let body = state.response(number: candidate.number)?.body else { return nil }
        guard body.state.withLock({ $0.isIdle }) else { return .busy }
        state.removeAll(of: body)
        return .body(body)
      }
      if let found { return found }
    }
    if let form = detachForm(candidate.number) { return .body(form) }
    // The object is in no resource. It is not loaded, or its body is about to be put into one.
    return isLive(candidate.number) ? .busy : .notLoaded
  }
}
