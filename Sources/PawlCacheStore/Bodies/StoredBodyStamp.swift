import PawlCache
package import PawlLoop

/// Detects changes to a body's file by other processes, which may truncate, extend, overwrite or replace the file while pawl
/// runs.
///
/// The size of the file and the time of its last change are checked before bytes of it are sent or added. If either has changed,
/// the body's bytes are trusted only after a comparison with their digests, and bytes beyond the end of the file are lost.
extension StoredBody {
  /// Checks whether the file is unchanged, with one system call that does not wait for the disk. With `now`, it checks at most
  /// once a millisecond. From any thread.
  /// - Returns: `false` if the file has changed. Then the caller calls ``availability(at:)`` again.
  package func isUntouched(now: Monotonic? = nil) -> Bool {
    let moment = now.map(FileStamp.moment)
    // `lookedAt` may be later than `moment`: the turn of this loop may have begun before another thread checked the file.
    let descriptor = state.withLock { state in
      state.lookedAt != .max && state.lookedAt >= moment ?? .max ? nil : state.descriptor
    }
    guard let descriptor else { return true }
    if let now, let pack = descriptor.pack, pack.hasProven(descriptor.base, now: now) { return true }
    return look(at: descriptor, moment)
  }

  package var fileChange: FileChange { state.withLock { $0.fileChange } }

  /// Marks the segments of `range` as unverified, because fewer bytes than expected were sent from the file, or none.
  package func distrust(_ range: Range<UInt64>) {
    guard let descriptor = state.withLock({ $0.descriptor }), look(at: descriptor) else { return }
    state.withLock { state in
      state.closeAllSegments()
      var position = range.lowerBound
      while position < range.upperBound {
        let record = state.segments.segment(at: position)
        if let record { state.verified.remove(record.range) }
        position = record?.end ?? SegmentTable.border(after: position)
      }
      state.warmth.clear()
    }
  }

  /// The state of the body before the file is checked.
  struct Look {
    /// ``BodyState/writes``; `nil` while a write is running.
    let writes: UInt64?
    /// The end of the held bytes. The file must not be shorter.
    let extent: UInt64
  }

  /// Checks whether the file is unchanged.
  /// - Returns: `false` if it has changed.
  @discardableResult
  func look(at descriptor: BodyDescriptor, _ moment: UInt64? = nil) -> Bool {
    // A pack changes with each new record, so its content is compared with its digest instead.
    guard descriptor.pack == nil else { return lookIntoPack(moment) }
    let look = beginLook()
    guard let stamp = FileStamp(of: descriptor.raw) else { return true }
    return endLook(look, at: descriptor, stamp, moment)
  }

  private func lookIntoPack(_ moment: UInt64?) -> Bool {
    if core.isHandedOver || state.withLock({ $0.verified.isEmpty }) { return true }
    if case .changed = lookIntoPack() {
      core.events.log(.warning, "body-file-changed", ["body": id.hex])
      return false
    }
    if let moment { state.withLock { $0.lookedAt = moment } }
    return true
  }

  func beginLook() -> Look {
    state.withLock { state in
      Look(writes: state.writing == 0 ? state.writes : nil, extent: state.held.intervals.last?.upperBound ?? 0)
    }
  }

  func endLook(_ look: Look, at descriptor: BodyDescriptor, _ stamp: FileStamp, _ moment: UInt64? = nil) -> Bool {
    let news = state.withLock { state -> News? in
      if let moment { state.lookedAt = moment }
      guard state.descriptor === descriptor else { return nil }
      // A write that ran during the check also changes the file.
      let isQuiet = state.writing == 0 && look.writes == state.writes
      // After a hand-over another pawl writes what is missing into the same file.
      let isSame = core.isHandedOver || !isQuiet || state.stamp == nil || state.stamp == stamp
      let extent = min(look.extent, state.held.intervals.last?.upperBound ?? 0)
      let size = max(state.stamp?.size ?? 0, extent)
      if isQuiet { state.stamp = stamp }
      if isSame, stamp.size >= extent { return nil }
      state.fileChange.count += 1
      state.fileChange.size = stamp.size < size ? stamp.size : nil
      state.distrust()
      return state.takeNews(isForced: true)
    }
    guard let news else { return true }
    announce(news)
    core.events.log(.warning, "body-file-changed", ["body": id.hex, "size": "\(stamp.size)"])
    cutBeyond(stamp.size)
    return false
  }

  /// Ends a write, and stores the stamp of the file if no other write is running.
  /// - Parameter write: the value of ``BodyState/writes`` for this write.
  func noteStamp(of descriptor: BodyDescriptor, after write: UInt64) {
    let isLast = state.withLock { state in
      state.writing -= 1
      state.stamp = nil
      return state.writing == 0 && state.writes == write && state.descriptor === descriptor
    }
    guard isLast else { return }
    // No other write is running now.
    let stamp = FileStamp(of: descriptor.raw)
    state.withLock { state in
      if state.writes == write, state.descriptor === descriptor { state.stamp = stamp }
    }
  }
}
