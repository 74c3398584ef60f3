import PawlCache

/// Streaming: bytes that cannot be stored on the disk pass through memory, at the speed of the slowest reader.
extension StoredBody {
  /// Begins streaming. From now on, ``write(_:at:)`` keeps bytes that are not on disk in a window of about 1 MiB. Unless the
  /// origin's validator is strong, the tags are limited to the bytes on disk, because later bytes cannot be proven any more.
  /// - Returns: `false` if another fill has already begun streaming. Then the window is for the bytes of that fill.
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

  /// The end of the bytes in the window; `nil` if the body is not streamed.
  package var windowEnd: UInt64? { state.withLock { $0.window?.range.upperBound } }

  /// Whether a reader can still get the bytes of `range` that are not held: they are in the window, or will be. Bytes that have
  /// left the window do not come again.
  package func windowReaches(_ range: Range<UInt64>) -> Bool {
    state.withLock { state in
      let position = state.held.contiguousEnd(from: range.lowerBound)
      return position >= range.upperBound || state.window?.hasPassed(position) != true
    }
  }

  /// Whether the window is full, so that the origin has to wait for the slowest reader.
  package var windowIsFull: Bool { state.withLock { $0.window?.isFull ?? false } }

  /// Whether fast readers wait for a slow one that is far behind them, in the window or before its beginning.
  package var isHeldUp: Bool { state.withLock { $0.window?.isHeldUp(by: $0.readers.values) ?? false } }

  /// Moves the window forward without waiting for the readers that are far behind. They do not get the bytes that leave the
  /// window.
  package func overtakeSlowReaders() {
    state.withLock { $0.window?.overtake() }
    wake()
  }

  /// Whether the window has overtaken every reader, so that no reader can use its bytes.
  package var isWindowUnread: Bool {
    state.withLock { state in
      guard let window = state.window, window.hasMoved else { return false }
      return !state.readers.values.contains { $0 >= window.range.lowerBound }
    }
  }

  /// Returns at most `limit` bytes from `position` on; `nil` if they are not in the window.
  package func windowBytes(at position: UInt64, limit: Int) -> [UInt8]? {
    state.withLock { $0.window?.piece(at: position, limit: limit) }
  }
}

extension BodyState {
  /// Drops the bytes of the window that every reader has got.
  mutating func trimWindow() {
    guard let window else { return }
    let (start, hasMoved) = (window.range.lowerBound, window.hasMoved)
    // Readers that were overtaken do not count. As long as the window has not moved, no reader was overtaken: those before the
    // window are still on their way to it.
    guard let slowest = readers.values.lazy.filter({ !hasMoved || $0 >= start }).min() else { return }
    self.window?.drop(before: slowest)
  }
}
