import PawlCache
package import PawlDisk

extension StoredBody: ChangeSource {
  /// What the catalogue does not know yet. On its thread.
  package func takeChanges() -> (any RowChanges)? {
    state.withLock { state in
      state.report.wasTaken()
      guard state.isPublished, state.place.isFile else { return nil }
      let records = state.takeRecords()
      return records.isEmpty
        ? nil : CatalogueChanges(list: [.segments(number, records, held: state.occupied)])
    }
  }

  /// The object has a row from now on. Everything about it that is known already is recorded next.
  func notePublished(under key: CacheKey, isStronglyValidated: Bool) {
    let news = state.withLock { state -> News? in
      state.home = key
      state.hasStrongValidator = isStronglyValidated
      return state.standing.wasPublished() ? state.takeNews(isForced: true) : nil
    }
    // It failed before, and its file is gone: so goes the row that has just been asked for.
    if let news { announce(news) } else if state.withLock({ $0.place.isFile }) { core.recordRemoval(of: number) }
  }

  func noteValidator(isStrong: Bool) { state.withLock { $0.hasStrongValidator = isStrong } }

  /// The object is gone from the index: its file and row go, too. Readers keep what they have open.
  /// - Returns: `false` when that was done before.
  func doom() -> Bool {
    guard let former = state.withLock({ $0.standing.wasDoomed() }) else { return false }
    charge.drop()
    core.durability.remove(self)
    let used = core.used.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
    withExtendedLifetime(used) {}
    if former == .published, state.withLock({ $0.place.isFile }) { core.recordRemoval(of: number) }
    return true
  }

  /// For the recency in the catalogue; `true` when the body is to be noted as used.
  func noteUse(at now: Int64) -> Bool {
    state.withLock { state in
      state.uses += 1
      state.lastUsed = now
      guard !state.isUseNoted, state.isPublished, state.place.isFile else { return false }
      state.isUseNoted = true
      return true
    }
  }

  /// Whether somebody asked for it after the one for whom it was stored, or moved.
  var wasUsedSinceStored: Bool { state.withLock { $0.wasUsedSinceStored } }

  /// Nothing of it is in memory only, and nobody used it since `time` (wall clock, seconds).
  func isSpare(notUsedSince time: Int64) -> Bool {
    guard forms.allSatisfy({ $0.body.isSpare(notUsedSince: time) }) else { return false }
    return state.withLock { state in
      state.isPublished && state.isIdle && (state.content == .filling || state.content == .recorded)
        && state.window == nil && state.lastUsed <= time && !state.isUseNoted && state.report == .clean
        && !state.hasUnrecorded && state.unsyncedBytes == 0
    }
  }

  /// Whether nobody is here, and nobody has used it since this was asked last: of too many variants it is one that goes.
  func isUnusedVariant() -> Bool {
    state.withLock { state in
      defer { state.usesSeen = state.uses }
      return state.usesSeen == state.uses && state.isIdle
    }
  }

  func takeUse() -> CatalogueChange? {
    state.withLock { state in
      guard state.isUseNoted else { return nil }
      state.isUseNoted = false
      return state.isDoomed ? nil : .used(number, at: state.lastUsed, uses: state.uses)
    }
  }
}

extension BodyCore {
  /// Forgets a row; loads and evictions skip the object until that is committed.
  func recordRemoval(of number: Int64) {
    doomed.withLock { _ = $0.insert(number) }
    submit([.remove(number)]) { [doomed] isRecorded in
      if isRecorded { doomed.withLock { $0.noteRecorded(number) } }
    }
  }
}
