import PawlCache

/// Beyond what the disk takes: the rest of the body passes through memory, at the pace of the slowest reader.
extension StoredBody {
  /// From now on ``write(_:at:)`` keeps what is not on disk in a window of at most 1 MiB. The tags shrink to what is on
  /// disk, unless the origin's validator is strong: nobody can prove the rest later.
  /// - Returns: `false` when somebody has begun that before, whose bytes the window is for.
  @discardableResult
  package func beginStreaming() -> Bool {
    moveToFile()
    let outcome = state.withLock { state -> (tags: [TagRecord]?, released: UInt64)? in
      guard state.window == nil else { return nil }
      state.window = MemoryWindow()
      let isLimited = state.limitTags(to: state.held.prefix)
      return (isLimited && state.isPublished ? state.tags : nil, state.takeReservation())
    }
    guard let outcome else { return false }
    core.budget.release(outcome.released)
    if let tags = outcome.tags { core.record([.tags(number, tags)], of: self) }
    return true
  }

  package var isStreaming: Bool { state.withLock { $0.window != nil } }

  /// Where what has come through the window ends; `nil` where nothing does.
  package var windowEnd: UInt64? { state.withLock { $0.window?.range.upperBound } }

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

  /// Whether readers that could go on wait for one that is far behind, in the window or before it.
  package var isHeldUp: Bool { state.withLock { $0.window?.isHeldUp(by: $0.readers.values) ?? false } }

  /// The window goes on without the readers that are far behind: what they lack comes no more.
  package func overtakeSlowReaders() {
    state.withLock { $0.window?.overtake() }
    wake()
  }

  /// Whether every reader was overtaken: the window is for nobody.
  package var isWindowUnread: Bool {
    state.withLock { state in
      guard let window = state.window, window.hasMoved else { return false }
      return !state.readers.values.contains { $0 >= window.range.lowerBound }
    }
  }

  /// At most `limit` bytes from `position` on, if they are in the window.
  package func windowBytes(at position: UInt64, limit: Int) -> [UInt8]? {
    state.withLock { $0.window?.piece(at: position, limit: limit) }
  }
}

extension BodyState {
  /// Lets go of what every reader has passed.
  mutating func trimWindow() {
    guard let window else { return }
    let (start, hasMoved) = (window.range.lowerBound, window.hasMoved)
    // Nobody waits for who was overtaken; at the beginning all are still on their way to it.
    guard let slowest = readers.values.lazy.filter({ !hasMoved || $0 >= start }).min() else { return }
    self.window?.drop(before: slowest)
  }
}
