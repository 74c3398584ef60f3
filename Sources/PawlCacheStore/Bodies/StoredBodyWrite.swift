import CLinux
import PawlCache
package import PawlDisk
import PawlLoop

extension StoredBody {
  /// Writes bytes into the page cache, then updates their digests and ranges, wakes the readers and has the bytes recorded. The
  /// caller has proven that the bytes belong at `offset`. From any thread.
  ///
  /// Bytes that are held already are skipped, never overwritten. Bytes that replace lost ones are used only if they have the
  /// recorded digest.
  /// - Throws: ``StoreError/full`` if the budget or the disk has no space (then nothing of the failing range is held, and the
  ///   caller calls ``beginStreaming()``), ``StoreError/dropped``, ``StoreError/differs``, ``StoreError/beyondTotal`` or
  ///   ``StoreError/system(call:path:errno:)``.
  /// - Returns: the time that the system calls have taken on this thread.
  @discardableResult
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) -> Duration {
    var took = Duration.zero
    guard !bytes.isEmpty else { return took }
    let range = offset..<(offset + UInt64(bytes.count))
    switch gather(bytes, at: offset) {
    case .gathered: return took
    case .full: moveToFile()
    case .notGathering: break
    }
    // Checks whether another process has changed the file since the last write. After this write, such a change could not be
    // detected any more.
    if let descriptor = state.withLock({ $0.held.isEmpty ? nil : $0.descriptor }) { look(at: descriptor) }
    let plan = try state.withLock { (state) throws(StoreError) -> WritePlan in try decide(range, bytes, &state) }
    switch plan {
    case .streamed: wake()
    case .file(let descriptor, let gaps, let lost, let write):
      var left = gaps[...]
      do throws(StoreError) {
        try writeLost(lost, of: bytes, at: offset, descriptor)
        while let gap = left.first {
          took += try writeRun(gap, of: bytes, at: offset, descriptor)
          left.removeFirst()
        }
      } catch {
        state.withLock { state in state.claims.removeAll { left.contains($0) } }
        noteStamp(of: descriptor, after: write)
        throw error
      }
      noteStamp(of: descriptor, after: write)
    case .needsFile:
      guard BodyFile.reopen(self) != nil else { throw .dropped }
      return try write(bytes, at: offset)
    }
    return took
  }

  private enum WritePlan {
    case streamed
    case needsFile
    /// The ranges that are missing, the runs that replace lost bytes, and the number of this write to the file.
    case file(BodyDescriptor, [Range<UInt64>], lost: [LostRun], write: UInt64)
  }

  /// Decides where the bytes go, claims the missing ranges, and reserves space for them.
  private func decide(
    _ range: Range<UInt64>, _ bytes: UnsafeRawBufferPointer, _ state: inout BodyState
  ) throws(StoreError) -> WritePlan {
    if state.failure != nil { throw .dropped }
    if range.upperBound > min(state.total ?? .max, HeldBytes.limit / 2) { throw .beyondTotal }
    // Bytes that replace lost ones are held back until they are proven, which is not possible in the window.
    if state.window != nil, state.lost.overlaps(range) { throw .dropped }
    if state.window != nil, range.upperBound > state.held.contiguousEnd(from: range.lowerBound) {
      guard state.window?.append(bytes, at: range.lowerBound) == true else { throw .full }
      return .streamed
    }
    let missing = state.missing(in: range)
    // The file belongs to another process. The caller streams the rest through memory, as when the disk is full.
    if core.isHandedOver, !missing.isEmpty { throw .handedOver }
    guard let descriptor = state.descriptor else { return .needsFile }
    // Nothing is written here into a pack, because other objects are in the same file.
    if descriptor.pack != nil, !missing.isEmpty { throw .dropped }
    let (lost, gaps) = state.lost.isEmpty ? ([], missing) : state.lost.split(missing)
    do throws(StoreError) {
      try reserve(gaps.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) }, &state)
    } catch {
      for run in lost { state.lost.giveBack(run) }
      throw error
    }
    state.claims.append(contentsOf: gaps)
    state.claims.append(contentsOf: lost.map(\.range))
    state.writes += 1
    state.writing += 1
    return .file(descriptor, gaps, lost: lost, write: state.writes)
  }

  /// Reserves more of the budget if the reservation is too small, and requests the next step in advance.
  private func reserve(_ need: UInt64, _ state: inout BodyState) throws(StoreError) {
    let claimed = state.claims.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) }
    let wanted = claimed + need
    if state.reservation < wanted {
      let step = max(growthStep(state), wanted - state.reservation)
      if core.budget.reserve(step) {
        state.reservation += step
      } else if core.budget.reserve(wanted - state.reservation) {
        state.reservation = wanted
      } else {
        throw .full
      }
    }
    guard state.growth == .idle, state.reservation - wanted < growthStep(state) / 2 else { return }
    let step = growthStep(state)
    let isAsked = core.pool.run { [self] in
      let isGranted = core.makeRoom(step)
      let isLate = self.state.withLock { state in
        let isUseful = state.growth.wasAnswered() && !state.isComplete && state.failure == nil
        if isGranted && isUseful { state.reservation += step }
        return isGranted && !isUseful
      }
      if isLate { core.budget.release(step) }
    }
    if isAsked { state.growth = .asked }
  }

  /// Returns the number of bytes to reserve next. If the length of the body is unknown, it is 64 MiB. If the length is known, it
  /// is the number of bytes that came so far, but at least 1 MiB, at most 64 MiB, and at most the number of missing bytes.
  private func growthStep(_ state: BodyState) -> UInt64 {
    guard let total = state.total else { return StoredBody.step }
    let left = total - min(total, state.heldCount + state.reservation)
    return min(left, StoredBody.step, max(state.writtenHere, 1 << 20))
  }

  /// The step in which space is reserved for bodies of unknown length, in bytes.
  static let step: UInt64 = 64 << 20

  /// Writes one claimed range, then makes it available to readers.
  /// - Returns: how long the write call took.
  private func writeRun(
    _ run: Range<UInt64>, of bytes: UnsafeRawBufferPointer, at offset: UInt64, _ descriptor: BodyDescriptor
  ) throws(StoreError) -> Duration {
    let piece = UnsafeRawBufferPointer(
      rebasing: bytes[Int(run.lowerBound - offset)..<Int(run.upperBound - offset)])
    let began = core.clock.now()
    try Files.writeAll(descriptor.raw, piece, at: run.lowerBound)
    let took = core.clock.now() - began
    var segment = state.withLock { $0.takeSegment(continuing: run.lowerBound) }
    var done: [OpenSegment] = []
    var position = run.lowerBound
    while position < run.upperBound {
      let end = min(SegmentTable.border(after: position), run.upperBound)
      segment.append(
        UnsafeRawBufferPointer(rebasing: piece[Int(position - run.lowerBound)..<Int(end - run.lowerBound)]))
      done.append(segment)
      position = end
      if position < run.upperBound { segment = OpenSegment(start: position) }
    }
    let writing = noteInLedger(done, run)
    finish(run, done)
    if let writing { core.ledger?.end(writing) }
    return took
  }

  private func finish(_ run: Range<UInt64>, _ segments: [OpenSegment]) {
    let count = run.upperBound - run.lowerBound
    let second = core.clock.now().seconds
    let news = state.withLock { state -> News in
      state.warmth.note(run, at: second)
      if let index = state.claims.firstIndex(of: run) { state.claims.remove(at: index) }
      state.held.insert(run)
      state.verified.insert(run)
      for segment in segments { state.giveBack(segment) }
      state.heldCount += count
      state.writtenHere += count
      state.reservation -= min(count, state.reservation)
      state.unrecordedBytes += count
      state.unsyncedBytes += count
      return state.takeNews()
    }
    charge.grow(count)
    announce(news)
    wake()
  }

  /// The notices that the catalogue and the syncs get after a change.
  struct News {
    var telling = BodyReport.Telling.nothing
    var wantsSync = false
  }

  func announce(_ news: News) {
    switch news.telling {
    case .nothing: break
    case .dirty, .dirtySoon:
      core.catalogue?.noteDirty(self, soon: news.telling == .dirtySoon)
      core.durability.add(self)
    case .hurry: core.catalogue?.hurry()
    }
    if news.wantsSync { core.durability.sync([self], core) }
  }

  /// Notes that all bytes have come, and completes the body. If the length was unknown, it is now the number of bytes that have
  /// come.
  /// - Returns: `false` if bytes are missing. Then the body stays incomplete.
  @discardableResult
  package func complete() -> Bool {
    if let isComplete = completeGathered() { return isComplete }
    let outcome = state.withLock { state -> (isComplete: Bool, released: UInt64, news: News)? in
      guard state.failure == nil, state.claims.isEmpty else { return nil }
      if let window = state.window {
        if state.total == nil { state.total = max(window.range.upperBound, state.held.prefix) }
        return (false, state.takeReservation(), state.takeNews())
      }
      let total = state.total ?? state.held.prefix
      guard state.held.prefix == total, state.heldCount == total else { return nil }
      guard state.content.completed() else { return nil }
      state.total = total
      state.closeAllSegments()
      return (true, state.takeReservation(), state.takeNews(isForced: true))
    }
    guard let outcome else { return false }
    core.budget.release(outcome.released)
    announce(outcome.news)
    logMendedRange()
    wake()
    if outcome.isComplete { promote() }
    return outcome.isComplete
  }

  /// Notes that no fill is running any more. Releases space that was reserved and not used, and has all written bytes recorded.
  package func fillPaused() {
    moveToFile()
    let (released, news) = state.withLock { state in
      state.closeAllSegments()
      state.growth.paused()
      return (state.takeReservation(), state.takeNews(isForced: true))
    }
    core.budget.release(released)
    announce(news)
    logMendedRange()
    wake()
  }

  /// Marks the body as failed. Every reader ends with this failure, and the object is removed from index, catalogue and disk.
  /// Does nothing if the body has already failed.
  package func fail(_ failure: BodyFailure) {
    let released = state.withLock { state -> UInt64? in
      guard state.content.failed(failure) else { return nil }
      state.dropMemory()
      return state.takeReservation()
    }
    guard let released else { return }
    core.budget.release(released)
    wake()
    core.drop(self)
  }
}

extension BodyState {
  mutating func takeReservation() -> UInt64 {
    defer { reservation = 0 }
    return reservation
  }

  /// Returns the notices that are due, and marks the body as dirty. No notice is due for a body that is not published, has failed
  /// or has no file of its own.
  mutating func takeNews(isForced: Bool = false) -> StoredBody.News {
    guard isPublished, failure == nil, place.isFile else { return StoredBody.News() }
    let isDue = report == .clean && (isForced || hasUnrecorded)
    return StoredBody.News(
      telling: report.told(isDue: isDue, isLarge: unrecordedBytes >= SegmentTable.span),
      wantsSync: unsyncedBytes >= 8 << 20 && !sync.isRunning)
  }
}
