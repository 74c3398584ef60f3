package import PawlCache

/// The entity tags that name these bytes.
extension StoredBody {
  /// Adds a tag, or widens or narrows one that is there. The first ever added is the primary one; of more than
  /// ``TagRecord/aliasLimit`` others the longest unused goes. Recorded once the body is published.
  package func addTag(_ record: TagRecord) {
    let tags = state.withLock { state -> [TagRecord]? in
      guard state.tags.note(record) else { return nil }
      return state.isPublished ? state.tags : nil
    }
    if let tags { core.record([.tags(number, tags)], of: self) }
  }

  /// Takes in the tags of a body that was proven equal, and those that it is given later.
  /// - Parameters:
  ///   - limit: how far its tags cover this one at most; `.max` where all that there was of it was found again.
  ///   - isWhole: whether that was all of its body.
  ///   - isMinted: tells pawl's own tags. An origin's own tag names all of a body: of an equal beginning it is none. A tag of pawl's
  ///     own gives way to that of a whole older body.
  ///   - completion: runs once that is recorded, or cannot be; on any thread.
  package func inheritTags(
    of older: StoredBody, upTo limit: UInt64, isWhole: Bool, isMinted: ([UInt8]) -> Bool,
    then completion: @escaping @Sendable () -> Void
  ) {
    let inherited = older.state.withLock { state -> [TagRecord] in
      state.heir = (self, limit, isWhole)
      return state.tags
    }
    let tags = inherited.compactMap { record in
      isWhole || isMinted(record.tag) ? TagRecord(tag: record.tag, limit: min(record.limit, limit)) : nil
    }
    take(tags, isWhole: isWhole, isMinted: isMinted, then: completion)
  }

  /// How far the tags of this body cover one that was found equal up to `end`: without an end where that was all that is held, for nobody
  /// was given more under them.
  package func reach(_ end: UInt64) -> UInt64 {
    state.withLock { $0.heldCount <= end && $0.lost.isEmpty && $0.window == nil ? .max : end }
  }

  private func take(
    _ older: [TagRecord], isWhole: Bool, isMinted: ([UInt8]) -> Bool, then completion: @escaping @Sendable () -> Void
  ) {
    let (heir, tags) = state.withLock { state -> ((body: StoredBody, limit: UInt64, isWhole: Bool)?, [TagRecord]?) in
      let areMinted =
        (state.tags.first.map { isMinted($0.tag) } ?? false) && older.first.map { isMinted($0.tag) } ?? false
      let takesName = isWhole && areMinted
      state.tags.inherit(older, takesName: takesName, isTold: state.isTagTold)
      return (state.heir, state.isPublished ? state.tags : nil)
    }
    if let heir {
      // It has been found equal to a newer one meanwhile.
      let further = older.compactMap { record in
        heir.isWhole || isMinted(record.tag)
          ? TagRecord(tag: record.tag, limit: min(record.limit, heir.limit)) : nil
      }
      return heir.body.take(further, isWhole: isWhole && heir.isWhole, isMinted: isMinted, then: completion)
    }
    guard let tags else { return completion() }
    core.record([.tags(number, tags)], of: self) { _ in completion() }
    // Who names the body by one of them is about to be given more of it.
    noteInLedger(tags)
  }

  /// How far the bytes are proven to be what this tag names: a range that names it may begin up to there, and goes beyond only
  /// where it goes to the end; `nil` when the tag does not name these bytes.
  package func tagLimit(_ opaque: [UInt8]) -> UInt64? { state.withLock { $0.tags.use(opaque) } }

  package var tags: [TagRecord] { state.withLock { $0.tags } }

  /// As ``primaryTag``, for who does not tell it.
  package var firstTag: [UInt8] { state.withLock { $0.tags.first?.tag ?? [] } }

  /// What the body is announced with; empty before the first ``addTag(_:)``. Who asks for it tells it: it stays valid as
  /// long as an alias does.
  package var primaryTag: [UInt8] {
    state.withLock { state in
      state.isTagTold = true
      return state.tags.first?.tag ?? []
    }
  }
}
