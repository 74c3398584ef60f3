package import PawlCache

/// The entity tags that name these bytes.
extension StoredBody {
  /// Adds a tag, or widens or narrows one that is there. The first ever added is the primary one. Recorded once the body
  /// is published.
  package func addTag(_ record: TagRecord) {
    let tags = state.withLock { state -> [TagRecord]? in
      if let index = state.tags.firstIndex(where: { $0.tag == record.tag }) {
        guard state.tags[index] != record else { return nil }
        state.tags[index] = record
      } else {
        state.tags.append(record)
      }
      return state.isPublished && !state.isDoomed ? state.tags : nil
    }
    if let tags { core.submit([.tags(number, tags)]) }
  }

  /// How far the bytes are proven to be what this tag names: a range that names it may begin up to there, and goes beyond only
  /// where it goes to the end; `nil` when the tag does not name these bytes.
  package func tagLimit(_ opaque: [UInt8]) -> UInt64? {
    state.withLock { state in state.tags.first { $0.tag == opaque }?.limit }
  }

  package var tags: [TagRecord] { state.withLock { $0.tags } }

  /// What the body is announced with; empty before the first ``addTag(_:)``.
  package var primaryTag: [UInt8] { state.withLock { $0.tags.first?.tag ?? [] } }
}
