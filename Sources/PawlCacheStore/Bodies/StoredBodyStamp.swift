import PawlCache
package import PawlLoop

/// Whether the file is as pawl left it. Others may cut it, grow it, write into it or put another in its place while pawl
/// runs. Its size and the time of its last change tell, and are looked at before bytes of it are sent or added: when they
/// are not what they were, nothing of the file is trusted any more without its digest, and what lay behind its end is lost.
extension StoredBody {
  /// `false` where the file was found changed: ask ``availability(at:)`` again. Looks with one system call that does not wait
  /// for the disk; where `now` is given, once a millisecond at most. From any thread.
  package func isUntouched(now: Monotonic? = nil) -> Bool {
    let moment = now.map(FileStamp.moment)
    // A turn of a loop may have begun before it was looked at.
    let descriptor = state.withLock { state in
      state.lookedAt != .max && state.lookedAt >= moment ?? .max ? nil : state.descriptor
    }
    guard let descriptor else { return true }
    if let now, let pack = descriptor.pack, pack.hasProven(descriptor.base, now: now) { return true }
    return look(at: descriptor, moment)
  }

  package var fileChange: FileChange { state.withLock { $0.fileChange } }

  /// What was sent of `range` came out short, or not at all, although it was verified: it is verified anew.
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

  /// What is known before the file is looked at.
  struct Look {
    /// ``BodyState/writes``; `nil` where one is under way.
    let writes: UInt64?
    /// Where what is held ends: that has to be in the file.
    let extent: UInt64
  }

  /// - Returns: `false` where the file was found changed.
  @discardableResult
  func look(at descriptor: BodyDescriptor, _ moment: UInt64? = nil) -> Bool {
    // A pack changes with each record that is added: each proves itself.
    guard descriptor.pack == nil else { return lookIntoPack(moment) }
    let look = beginLook()
    guard let stamp = FileStamp(of: descriptor.raw) else { return true }
    return endLook(look, at: descriptor, stamp, moment)
  }

  private func lookIntoPack(_ moment: UInt64?) -> Bool {
    if state.withLock({ $0.verified.isEmpty }) { return true }
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
      // What was being written when it was looked at changes the file, too.
      let isQuiet = state.writing == 0 && look.writes == state.writes
      let isSame = !isQuiet || state.stamp == nil || state.stamp == stamp
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

  /// A write is over: from here on the file is to stay like this.
  /// - Parameter write: what ``BodyState/writes`` counted for it.
  func noteStamp(of descriptor: BodyDescriptor, after write: UInt64) {
    let isLast = state.withLock { state in
      state.writing -= 1
      state.stamp = nil
      return state.writing == 0 && state.writes == write && state.descriptor === descriptor
    }
    guard isLast else { return }
    // Only now does nobody write any more.
    let stamp = FileStamp(of: descriptor.raw)
    state.withLock { state in
      if state.writes == write, state.descriptor === descriptor { state.stamp = stamp }
    }
  }
}
