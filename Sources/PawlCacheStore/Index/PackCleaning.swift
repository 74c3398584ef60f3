import PawlCache
import PawlDisk

/// Frees space in packs. Removes the oldest pack; its objects that were used after they were written are first moved to another
/// pack. Also removes packs in which few records are live. All of this runs in the pool of threads.
extension StoreCore {
  /// A full pack is emptied when less than this percentage of it is live.
  private static let leastLive = 50

  /// The full pack that is emptied first, and its score; `nil` if there is none.
  func oldestPack() -> (pack: Pack, score: EvictionScore)? {
    guard let pack = packs?.all.first(where: \.isRemovable) else { return nil }
    let idle = clock.wallSeconds() - pack.lastWritten
    return (pack, EvictionScore(.complete, idle: idle, uses: 0, size: DiskBudget.objectOverhead))
  }

  /// Empties a pack and removes it.
  /// - Parameter keepingAll: whether all objects have to be kept. Then the pack stays if one of them cannot be moved. If `false`,
  ///   objects may be evicted; their readers read on.
  /// - Returns: the bytes that are freed.
  func empty(_ pack: Pack, keepingAll: Bool) -> UInt64 {
    guard let packs, pack.beginDropping() else { return 0 }
    var kept = 0
    let most = keepingAll ? .max : keeping.withLock { $0.most(of: pack.size) }
    var evicted: UInt64 = 0
    var isEmpty = true
    _ = packs.scan(pack, through: pack.size) { head, place in
      guard head.isLive, isEmpty else { return }
      let wasUsed = keepingAll || wasUsed(head, place)
      if wasUsed, kept + place.size <= most, relocate(head, place, packs) {
        kept += place.size
      } else if keepingAll {
        isEmpty = false
      } else if evict(head, place, packs, evenInUse: false) {
        evicted += 1
      } else if relocate(head, place, packs) {
        kept += place.size
      } else {
        // The disk may be full. Then evicting the object frees space, even if it is in use.
        _ = evict(head, place, packs, evenInUse: true)
        evicted += 1
      }
    }
    if evicted > 0 {
      counters.withLock { $0.evictions += evicted }
      events.log(
        .info, "pack-evicted",
        ["pack": "\(pack.number)", "bytes": "\(pack.size)", "objects": "\(evicted)", "kept-bytes": "\(kept)"])
    }
    guard isEmpty else {
      pack.endDropping()
      return 0
    }
    if !keepingAll { keeping.withLock { $0.note(kept, of: pack.size) } }
    packs.takeOut(pack)
    return UInt64(max(0, pack.size - kept))
  }

  /// Whether the object was requested since its record was written there.
  private func wasUsed(_ head: PackRecord.Head, _ place: PackPlace) -> Bool {
    if let known = index.wasUsed(head.keyHash, place) { return known }
    return loadedBody(head, place)?.wasUsedSinceStored ?? false
  }

  /// Moves a record to another pack.
  /// - Returns: `false` if that failed.
  private func relocate(_ head: PackRecord.Head, _ place: PackPlace, _ packs: Packs) -> Bool {
    // A body in memory moves its record itself.
    if let body = loadedBody(head, place) { return body.relocate(from: place) }
    // A record that is damaged or out of date is evicted instead.
    guard let (_, record) = packs.record(place), record.row.supersededAt == nil,
      !trees.covers(record.row.key, number: head.number), let bytes = packs.rewritten(place, [])
    else { return evict(head, place, packs, evenInUse: false) }
    guard let next = packs.append(bytes) else { return false }
    if replace(head.keyHash, place, by: next) {
      // The pack may stay after all, or pawl may be killed: an object that is removed meanwhile must not come back by its old record.
      packs.kill(place)
      return true
    }
    packs.kill(next)
    // The object was loaded or removed meanwhile.
    guard let body = loadedBody(head, place) else { return true }
    return body.relocate(from: place)
  }

  /// The body in memory whose record is at that place.
  private func loadedBody(_ head: PackRecord.Head, _ place: PackPlace) -> StoredBody? {
    for resource in index.resources(head.keyHash) {
      let bodies = resource.withLock { $0.responses.map(\.body) }
      for body in bodies {
        let found = body.number == head.number ? body : body.forms.first { $0.body.number == head.number }?.body
        if let found, found.state.withLock({ $0.place == .packed(place) }) { return found }
      }
    }
    return nil
  }

  func replace(_ hash: UInt64, _ place: PackPlace, by next: PackPlace?) -> Bool {
    guard let resources = index.move(hash, from: place, to: next) else { return true }
    return resources.contains { resource in
      resource.withLock { state in
        guard !state.isLoaded, let found = state.atRest.places.firstIndex(of: place) else { return false }
        if let next { state.atRest.places[found] = next } else { state.atRest.places.remove(at: found) }
        return true
      }
    }
  }

  /// Removes an object from the index and marks its record as dead.
  /// - Returns: `false` if the object is in use and `evenInUse` is not set.
  private func evict(_ head: PackRecord.Head, _ place: PackPlace, _ packs: Packs, evenInUse: Bool) -> Bool {
    if let body = loadedBody(head, place) {
      guard evenInUse || body.state.withLock({ $0.isIdle }) else { return false }
      drop(body)
      return true
    }
    _ = replace(head.keyHash, place, by: nil)
    packs.kill(place)
    return true
  }

  /// Counts the live records of a pack that was opened with its list (``PackList``), because records may have been marked as dead
  /// after the list was written.
  private func count(_ pack: Pack, _ packs: Packs) {
    var counted = 0
    _ = packs.scan(pack, through: pack.size) { head, place in
      if head.isLive { counted += place.size } else { _ = replace(head.keyHash, place, by: nil) }
    }
    pack.noteCounted(counted)
    if pack.live == 0 { packs.remove(pack) }
  }

  /// Empties one full pack in which few bytes are live. A pack that was sealed with few records is emptied, too. Runs once a
  /// second.
  func cleanPacks() {
    guard let packs else { return }
    if let unknown = packs.all.first(where: { !$0.isCounted && $0.isRemovable }) { count(unknown, packs) }
    let sparse = packs.all.first { $0.isRemovable && $0.live < packs.packSize / 100 * Self.leastLive }
    if let sparse { _ = empty(sparse, keepingAll: true) }
  }

  /// Removes the objects in packs that are out of date by these paths. Blocking.
  func removePacked(coveredBy trees: OutdatedTrees) {
    guard let packs else { return }
    for pack in packs.all {
      _ = packs.scan(pack, through: pack.size) { head, place in
        guard head.isLive, let (_, record) = packs.record(place), trees.covers(record.row.key, number: head.number)
        else { return }
        _ = evict(head, place, packs, evenInUse: true)
      }
    }
  }
}

extension StoredBody {
  /// Moves the body's record to another pack. Blocking.
  /// - Returns: `false` if that failed.
  func relocate(from place: PackPlace) -> Bool {
    let isFree = state.withLock { state in
      guard state.place == .packed(place), !state.isEditing else { return false }
      state.isEditing = true
      // After a body was moved, it is moved again only if it was used again. The request that stored it counts as one use.
      (state.uses, state.usesSeen) = (min(state.uses, 1), min(state.uses, 1))
      return true
    }
    // The record is being moved or changed now, or was moved.
    guard isFree else { return state.withLock { $0.place != .packed(place) } }
    let isMoved = move(from: place)
    rewrite()
    return isMoved || state.withLock { $0.place != .packed(place) }
  }
}
