import CLinux
import PawlCache
import PawlDisk
package import PawlLoop

/// The result of a check.
package enum CheckOutcome: Hashable, Sendable {
  /// The check was done. The caller calls ``StoredBody/availability(at:)`` again: the bytes are available now, or were corrupt
  /// and are missing now.
  case checked
  /// The file could not be opened or read because descriptors or memory were short. Nothing is lost.
  case unavailable(String)
}

extension StoredBody {
  /// Verifies the segment at `position`, in the pool: opens the file if it is closed, reads the segment and compares its XXH3
  /// with the recorded one. Then the next few segments are verified, so that a reader that goes on does not wait again.
  ///
  /// A segment that differs from what was written is removed from `held`. `completion` runs on `loop`. Call this function on that
  /// loop.
  package func check(at position: UInt64, on loop: EventLoop, _ completion: @escaping (CheckOutcome) -> Void) {
    let reply = LoopReply(on: loop, completion)
    let key = state.withLock { state -> UInt64? in
      let key = state.segments.segment(at: position)?.offset ?? .max
      state.checks[key, default: []].append(reply)
      return state.checks[key]?.count == 1 ? key : nil
    }
    guard let key else { return }
    let isQueued = core.pool.run { [self] in
      let (outcome, isDamaged) = checkFirst(at: position)
      finishCheck(key, outcome)
      if outcome == .checked, !isDamaged {
        _ = checkSegments(from: SegmentTable.border(after: position), ahead: 3)
      }
    }
    if !isQueued { finishCheck(key, .unavailable("the cache is closed")) }
  }

  /// Verifies all held bytes of `range`, in the pool, and goes on after damaged segments. `completion` runs on `loop`. Call this
  /// function on that loop.
  package func checkAll(_ range: Range<UInt64>, on loop: EventLoop, _ completion: @escaping (CheckOutcome) -> Void) {
    let reply = LoopReply(on: loop, completion)
    let isQueued = core.pool.run { [self] in reply.send(checkAll(range)) }
    if !isQueued { reply.send(.unavailable("the cache is closed")) }
  }

  /// Verifies all held bytes of `range`. Blocking.
  private func checkAll(_ range: Range<UInt64>) -> CheckOutcome {
    var position = range.lowerBound
    while position < range.upperBound {
      switch checkSegment(at: position) {
      case .verified(let end): position = end
      case .cut(let end): position = end
      case .failed(let why): return .unavailable(why)
      }
    }
    return .checked
  }

  /// Verifies the segment at `position`. If it is damaged, also verifies the bytes after it, which may be damaged, too. So all
  /// bytes that have to be fetched again are known at once.
  private func checkFirst(at position: UInt64) -> (outcome: CheckOutcome, isDamaged: Bool) {
    switch checkSegment(at: position) {
    case .verified: (.checked, false)
    case .cut(let end): (checkAll(end..<max(end, min(position + Self.lookAhead, total ?? .max))), true)
    case .failed(let why): (.unavailable(why), false)
    }
  }

  /// The number of bytes after a damaged segment that are verified with it.
  private static let lookAhead: UInt64 = 16 << 20

  private func finishCheck(_ key: UInt64, _ outcome: CheckOutcome) {
    let replies = state.withLock { $0.checks.removeValue(forKey: key) ?? [] }
    wake()
    for reply in replies { reply.send(outcome) }
  }

  /// Verifies the segment at `position` and up to `ahead` segments after it without a hole. Blocking.
  func checkSegments(from position: UInt64, ahead: Int) -> CheckOutcome {
    var position = position
    for _ in 0...ahead {
      switch checkSegment(at: position) {
      case .verified(let end): position = end
      case .cut: return .checked
      case .failed(let why): return .unavailable(why)
      }
    }
    return .checked
  }

  /// The result for one segment, and the position at which the next check begins. Bytes that are not held, and a failed body,
  /// count as cut.
  private enum SegmentCheck { case verified(end: UInt64), cut(end: UInt64), failed(String) }

  private func checkSegment(at position: UInt64) -> SegmentCheck {
    let found = state.withLock { state in (state.descriptor, state.failure) }
    if found.1 != nil { return .cut(end: .max) }
    guard let descriptor = found.0 ?? openForCheck() else {
      return failure == nil ? .failed("\(core.path(of: id)) cannot be opened") : .cut(end: .max)
    }
    // Detects earlier changes to the file. Bytes that are read after this are those that the file has now.
    look(at: descriptor)
    let known = state.withLock { state -> (record: SegmentRecord?, verifiedEnd: UInt64, heldEnd: UInt64) in
      (
        state.segments.segment(at: position), state.verified.contiguousEnd(from: position),
        state.held.contiguousEnd(from: position)
      )
    }
    if known.verifiedEnd > position { return .verified(end: known.verifiedEnd) }
    guard known.heldEnd > position else {
      return .cut(end: state.withLock { $0.held.nextHeld(after: position) } ?? .max)
    }
    guard let record = known.record else {
      let end = state.withLock { $0.segments.next(after: position)?.offset } ?? .max
      cutUnprovable(position..<min(known.heldEnd, end), "no digest")
      return .cut(end: min(known.heldEnd, end))
    }
    return compare(record, descriptor)
  }

  private func compare(_ record: SegmentRecord, _ descriptor: BodyDescriptor) -> SegmentCheck {
    let verdict = core.withSegmentBuffer { buffer -> Result<Bool, StoreError> in
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(record.length)])
      do throws(StoreError) {
        let count = try Files.read(descriptor.raw, target, at: descriptor.base + record.offset)
        return .success(count == target.count && SegmentDigest.of(UnsafeRawBufferPointer(target)) == record.digest)
      } catch {
        return .failure(error)
      }
    }
    switch verdict {
    case .success(true):
      state.withLock { state in
        // If the segment was removed meanwhile, it stays unverified.
        if state.segments.segment(at: record.offset) == record { state.verified.insert(record.range) }
      }
      return .verified(end: record.end)
    case .success(false): cut([record], "its digest differs")
    case .failure(.system(let call, let path, let errno)) where errno != EIO:
      return .failed("\(StoreError.system(call: call, path: path, errno: errno))")
    case .failure(let error): cut([record], "\(error)")
    }
    return .cut(end: record.end)
  }

  /// Opens the file. If the file is missing, not a regular file or not readable, the body fails. Segments beyond the end of the
  /// file are removed.
  private func openForCheck() -> BodyDescriptor? {
    let path = core.path(of: id)
    do throws(StoreError) {
      let raw = try Files.open(path, O_RDWR | O_NOFOLLOW)
      let descriptor = BodyDescriptor(adopting: raw, pool: core.pool, charge: charge)
      let size = try Files.size(raw, path)
      let chosen = adopt(descriptor)
      cutBeyond(size)
      return chosen
    } catch {
      if error.isOfThisMoment {
        core.openBodies.closeSome()
        core.events.log(.warning, "body-open-failed", ["body": id.hex, "why": "\(error)"])
      } else {
        fail(.disk("\(error)"))
      }
      return nil
    }
  }

  /// Removes the held bytes beyond the end of a truncated file.
  func cutBeyond(_ size: UInt64) {
    let (lost, loose) = state.withLock { state -> ([SegmentRecord], [Range<UInt64>]) in
      guard let end = state.held.intervals.last?.upperBound, end > size else { return ([], []) }
      state.closeAllSegments()
      let lost = state.segments.records.filter { $0.end > size && state.held.contains($0.range) }
      let known = HeldBytes(lost.map(\.range))
      let beyond = state.held.intervals.filter { $0.upperBound > size }
      return (lost, beyond.flatMap { known.gaps(in: max($0.lowerBound, size)..<$0.upperBound) })
    }
    let why = "the file ends at \(size)"
    if !lost.isEmpty { cut(lost, why) }
    for range in loose { cutUnprovable(range, why) }
  }

  /// Removes segments from the held bytes, and logs that. Their digests stay in the catalogue, so that the bytes that replace
  /// them can be proven.
  private func cut(_ records: [SegmentRecord], _ why: String) {
    remove(HeldBytes(records.map(\.range)), why) { state in
      for record in records where state.segments.segment(at: record.offset) == record {
        state.segments.remove(record)
        state.lost.insert(record)
      }
    }
  }

  /// Removes bytes that have no digest.
  private func cutUnprovable(_ range: Range<UInt64>, _ why: String) { remove(HeldBytes([range]), why) { _ in } }

  /// Removes bytes from the held bytes. A body of which nothing is left is dropped, unless a fill is running.
  private func remove(_ gone: HeldBytes, _ why: String, _ note: (inout BodyState) -> Void) {
    unpack()
    // A body in a pack cannot be mended.
    if state.withLock({ $0.place.packed != nil }) {
      core.noteDropped(id, why)
      return fail(.disk(why))
    }
    let outcome = state.withLock { state -> (changes: [CatalogueChange], cut: UInt64, freed: UInt64, isLeft: Bool) in
      let (held, occupied) = (state.heldCount, state.occupied)
      for range in gone.intervals {
        state.held.remove(range)
        state.verified.remove(range)
      }
      note(&state)
      state.heldCount = state.held.count
      if state.heldCount < held {
        state.content.wasCut()
        state.dropMemory()
      }
      var changes: [CatalogueChange] = [.cut(number, held: state.occupied)]
      let freed = occupied - min(occupied, state.occupied)
      if freed > 0, state.limitTags(to: state.provable.prefix) { changes.append(.tags(number, state.tags)) }
      return (
        state.isPublished ? changes : [], held - min(held, state.heldCount), freed,
        !state.held.isEmpty || state.fill != nil
      )
    }
    // If two checks found the same damage at once, only the first logs it.
    guard outcome.cut > 0 else { return }
    charge.shrink(outcome.freed)
    core.counters.withLock { $0.mendings += 1 }
    core.failures.log(
      .warning, "body-damaged", of: "damaged \(why)", atMost: FailureLog.few,
      [
        "body": id.hex, "at": "\(gone.intervals.first?.lowerBound ?? 0)", "bytes": "\(outcome.cut)", "why": why,
      ])
    core.record(outcome.changes, of: self)
    if outcome.isLeft {
      wake()
    } else {
      core.noteDropped(id, why)
      fail(.disk(why))
    }
  }

  /// Counts a use of a body that is not in memory, and returns whether to load the body into memory now. Only a small complete
  /// body is loaded: at the first such use, and at every fourth one after it.
  func wantsMemory() -> Bool {
    state.withLock { state in
      guard state.place.isFile, state.memory == nil, state.isComplete,
        (state.total ?? .max) <= core.memoryObject
      else {
        return false
      }
      state.usesOutsideMemory += 1
      return state.usesOutsideMemory & 3 == 1
    }
  }

  /// Loads a small complete body into memory, in the pool, and verifies the bytes that are not verified yet.
  func promote() {
    guard core.memory.limit > 0 else { return }
    let isWanted = state.withLock { state in
      guard state.content.isWhole, let total = state.total, total > 0, total <= core.memoryObject else {
        return false
      }
      return state.memoryUse.promotionBegan()
    }
    guard isWanted else { return }
    let isQueued = core.pool.run { [self] in
      if !loadMemory() { state.withLock { $0.memoryUse.promotionFailed() } }
    }
    if !isQueued { state.withLock { $0.memoryUse.promotionFailed() } }
  }

  /// Loads the body into memory. Blocking.
  /// - Returns: `false` if that failed, or if the body may not be in memory.
  private func loadMemory() -> Bool {
    guard let total, total <= core.memoryObject else { return false }
    var position: UInt64 = 0
    while position < total {
      guard case .verified(let end) = checkSegment(at: position) else { return false }
      position = end
    }
    var bytes = [UInt8](repeating: 0, count: Int(total))
    let count = bytes.withUnsafeMutableBytes { read(0..<total, into: $0) }
    guard count == bytes.count else { return false }
    let isKept = state.withLock { state in
      guard state.content.isWhole, !state.isDoomed, state.memory == nil else { return false }
      (state.memory, state.memoryUse) = (bytes, .used)
      return true
    }
    guard isKept else { return false }
    core.memory.remove(ObjectIdentifier(self))
    if !core.memory.admit(self, size: total) { _ = leaveMemory(unlessUsed: false) }
    return true
  }
}
