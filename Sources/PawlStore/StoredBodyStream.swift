import PawlCache

/// Beyond what the disk takes: the rest of the body passes through memory, at the pace of the slowest reader.
extension StoredBody {
  /// From now on ``write(_:at:)`` keeps what is not on disk in a window of at most 1 MiB. The tags shrink to what is on
  /// disk, unless the origin's validator is strong: nobody can prove the rest later.
  /// - Returns: `false` when somebody has begun that before, whose octets the window is for.
  @discardableResult
  package func beginStreaming() -> Bool {
    let outcome = state.withLock { state -> (tags: [TagRecord]?, released: UInt64)? in
      guard state.window == nil else { return nil }
      state.window = MemoryWindow()
      let isLimited = state.limitTags(to: state.held.prefix)
      return (isLimited && state.isPublished ? state.tags : nil, state.takeReservation())
    }
    guard let outcome else { return false }
    core.budget.release(outcome.released)
    if let tags = outcome.tags { core.submit([.tags(number, tags)]) }
    return true
  }

  package var isStreaming: Bool { state.withLock { $0.window != nil } }

  /// Whether a reader of `range` may still find in the window what is not held of it, now or when it comes: what went
  /// through the window before comes no more.
  package func windowReaches(_ range: Range<UInt64>) -> Bool {
    state.withLock { state in
      let position = state.held.contiguousEnd(from: range.lowerBound)
      return position >= range.upperBound || state.window?.hasPassed(position) != true
    }
  }

  /// Whether the origin has to wait for the slowest reader.
  package var windowIsFull: Bool { state.withLock { $0.window?.isFull ?? false } }

  /// At most `limit` bytes from `position` on, if they are in the window.
  package func windowBytes(at position: UInt64, limit: Int) -> [UInt8]? {
    state.withLock { $0.window?.piece(at: position, limit: limit) }
  }
}

extension BodyState {
  /// Lets go of what every reader has passed.
  mutating func trimWindow() {
    guard let slowest = readers.values.min() else { return }
    window?.drop(before: slowest)
  }
}
