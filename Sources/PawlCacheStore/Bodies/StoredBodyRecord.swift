import PawlCache
package import PawlDisk

extension StoredBody: ChangeSource {
  /// Returns the changes that the catalogue does not have yet. Called on the catalogue's thread.
  package func takeChanges() -> (any RowChanges)? {
    state.withLock { state in
      state.report.wasTaken()
      guard state.isPublished, state.place.isFile else { return nil }
      let records = state.takeRecords()
      return records.isEmpty
        ? nil : CatalogueChanges(list: [.segments(number, records, held: state.occupied)])
    }
  }

  /// Notes that the body was published and its row was submitted. Its segments are recorded next.
  func notePublished(under key: CacheKey, isStronglyValidated: Bool) {
    let news = state.withLock { state -> News? in
      state.home = key
      state.hasStrongValidator = isStronglyValidated
      return state.standing.wasPublished() ? state.takeNews(isForced: true) : nil
    }
    // The body failed before and its file is removed, so the row that was just submitted is removed, too.
    if let news { announce(news) } else if state.withLock({ $0.place.isFile }) { core.recordRemoval(of: number) }
  }

  func noteValidator(isStrong: Bool) { state.withLock { $0.hasStrongValidator = isStrong } }

  /// Marks the body as removed, and removes its row. The caller removes the bytes. Readers keep the files that they have open.
  /// - Returns: `false` if that was done before.
  func doom() -> Bool {
    guard let former = state.withLock({ $0.standing.wasDoomed() }) else { return false }
    charge.drop()
    core.durability.remove(self)
    let used = core.used.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
    withExtendedLifetime(used) {}
    if former == .published, state.withLock({ $0.place.isFile }) { core.recordRemoval(of: number) }
    return true
  }

  /// Counts a use.
  /// - Returns: `true` if the caller has to note the body for the next update of `last_used` in the catalogue.
  func noteUse(at now: Int64) -> Bool {
    state.withLock { state in
      state.uses += 1
      state.lastUsed = now
      guard !state.isUseNoted, state.isPublished, state.place.isFile else { return false }
      state.isUseNoted = true
      return true
    }
  }

  /// Whether the body was requested again after the request that stored it, or after its record was last moved.
  var wasUsedSinceStored: Bool { state.withLock { $0.wasUsedSinceStored } }

  /// Whether the body can be unloaded: all of it is recorded, and it was not used since `time` (wall clock, seconds).
  func isSpare(notUsedSince time: Int64) -> Bool {
    guard forms.allSatisfy({ $0.body.isSpare(notUsedSince: time) }) else { return false }
    return state.withLock { state in
      state.isPublished && state.isIdle && (state.content == .filling || state.content == .recorded)
        && state.window == nil && state.lastUsed <= time && !state.isUseNoted && state.report == .clean
        && !state.hasUnrecorded && state.unsyncedBytes == 0
    }
  }

  /// Whether the body is idle and was not used since the last call of this function. Such variants are removed first if a
  /// resource has too many.
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
  /// Removes a row from the catalogue. Loads and evictions skip the object until that is committed.
  func recordRemoval(of number: Int64) {
    doomed.withLock { _ = $0.insert(number) }
    submit([.remove(number)]) { [doomed] isRecorded in
      if isRecorded { doomed.withLock { $0.noteRecorded(number) } }
    }
  }
}
