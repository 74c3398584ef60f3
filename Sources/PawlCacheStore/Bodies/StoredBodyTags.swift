package import PawlCache

/// The entity tags that name these bytes.
extension StoredBody {
  /// Adds a tag, or changes the number of bytes that an existing one covers. The first tag ever added is the primary tag. If
  /// there are more than ``TagRecord/aliasLimit`` other tags, the one that was unused for the longest time is removed. The tags
  /// are recorded as soon as the body is published.
  package func addTag(_ record: TagRecord) {
    let tags = state.withLock { state -> [TagRecord]? in
      guard state.tags.note(record) else { return nil }
      return state.isPublished ? state.tags : nil
    }
    if let tags { core.record([.tags(number, tags)], of: self) }
  }

  /// Adds the tags of an older body that was found equal to this one, and those that the older body gets later.
  /// - Parameters:
  ///   - limit: how many bytes of this body the older body's tags cover at most; `.max` if all bytes of the older body were found
  ///     to be equal.
  ///   - isWhole: whether the bytes that were found to be equal are the complete older body.
  ///   - isMinted: returns whether pawl has minted a tag. A tag of the origin names a complete body, so it is not inherited from
  ///     a body that is equal only at its beginning. A minted primary tag is replaced by the minted primary tag of a complete
  ///     older body.
  ///   - completion: runs on any thread when the tags are recorded, or cannot be recorded.
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
  /// this body has no bytes after `end`, because then no client has got such bytes under these tags.
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
    // From now on, a client that names the body by one of these tags may get more of it, so the ledger must have them, too.
    noteInLedger(tags)
  }

  /// Returns up to which offset the bytes are proven to be those that this tag names; `nil` if the tag does not name this body. A
  /// range that is requested under this tag may begin at that offset or before it. It may end after that offset only if it goes
  /// to the end of the body.
  package func tagLimit(_ opaque: [UInt8]) -> UInt64? { state.withLock { $0.tags.use(opaque) } }

  package var tags: [TagRecord] { state.withLock { $0.tags } }

  /// The primary tag, for callers that do not send it to a client.
  package var firstTag: [UInt8] { state.withLock { $0.tags.first?.tag ?? [] } }

  /// The tag that the body is sent with; empty before the first ``addTag(_:)``. The caller sends the tag to a client, so the tag
  /// stays valid as an alias if another tag becomes the primary one.
  package var primaryTag: [UInt8] {
    state.withLock { state in
      state.isTagSent = true
      return state.tags.first?.tag ?? []
    }
  }
}
