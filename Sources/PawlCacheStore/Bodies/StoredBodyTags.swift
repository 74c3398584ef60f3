package import PawlCache

/// The entity tags that name these bytes.
extension StoredBody {
  /// Adds a tag, or widens or narrows an existing one. The first one ever added is the primary tag. If there are more than
  /// ``TagRecord/aliasLimit`` others, the one that was unused for longest is removed. Recorded once the body is published.
  package func addTag(_ record: TagRecord) {
    let tags = state.withLock { state -> [TagRecord]? in
      guard state.tags.note(record) else { return nil }
      return state.isPublished ? state.tags : nil
    }
    if let tags { core.record([.tags(number, tags)], of: self) }
  }

  /// Adds the tags of a body that was proven equal, and those that it gets later.
  /// - Parameters:
  ///   - limit: how many bytes of this body its tags cover at most; `.max` if all of its bytes were found again.
  ///   - isWhole: whether those bytes were its whole body.
  ///   - isMinted: returns whether pawl has minted a tag. A tag of the origin names a whole body, so it is not inherited from a
  ///     body that is equal only at its beginning. A minted primary tag gives way to that of a whole older body.
  ///   - completion: runs once that is recorded, or cannot be recorded; on any thread.
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

  /// Returns how many bytes the tags of this body cover in another body that was found equal up to `end`. The result is `.max` if
  /// no more than that is held here: then no client has got more under these tags.
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
      state.tags.inherit(older, takesName: takesName, isTold: state.isTagSent)
      return (state.heir, state.isPublished ? state.tags : nil)
    }
    if let heir {
      // This body has been found equal to a newer one meanwhile.
      let further = older.compactMap { record in
        heir.isWhole || isMinted(record.tag)
          ? TagRecord(tag: record.tag, limit: min(record.limit, heir.limit)) : nil
      }
      return heir.body.take(further, isWhole: isWhole && heir.isWhole, isMinted: isMinted, then: completion)
    }
    guard let tags else { return completion() }
    core.record([.tags(number, tags)], of: self) { _ in completion() }
    // A client that names the body by one of these tags may get more of it now.
    noteInLedger(tags)
  }

  /// Returns how many bytes are proven to be what this tag names; `nil` if it does not name these bytes. A range under this tag
  /// may begin up to there. It may go beyond only if it goes to the end of the body.
  package func tagLimit(_ opaque: [UInt8]) -> UInt64? { state.withLock { $0.tags.use(opaque) } }

  package var tags: [TagRecord] { state.withLock { $0.tags } }

  /// The primary tag, for callers that do not send it to a client.
  package var firstTag: [UInt8] { state.withLock { $0.tags.first?.tag ?? [] } }

  /// The tag that the body is sent with; empty before the first ``addTag(_:)``. The caller sends it to a client, so it stays
  /// valid as long as an alias does.
  package var primaryTag: [UInt8] {
    state.withLock { state in
      state.isTagSent = true
      return state.tags.first?.tag ?? []
    }
  }
}
