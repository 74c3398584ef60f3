import CLinux
import PawlCache
package import PawlLoop

/// What a check has found.
package enum CheckOutcome: Hashable, Sendable {
  /// Ask ``StoredBody/availability(at:)`` again: there are bytes now, or the corrupt ones were cut out and are missing.
  case checked
  /// The file could not be opened or read for want of something (descriptors, memory): nothing is lost.
  case unavailable(String)
}

extension StoredBody {
  /// Opens the file if it is closed, reads the segment at `position` back and compares its XXH3, in the pool; then the
  /// next few, so that a reader that goes on need not wait again. A segment that is not what was written is cut out of
  /// `held`. `completion` runs on `loop`. On that loop.
  package func check(at position: UInt64, on loop: EventLoop, _ completion: @escaping (CheckOutcome) -> Void) {
    let reply = LoopReply(on: loop, completion)
    let key = state.withLock { state -> UInt64? in
      let key = state.segments.segment(at: position)?.offset ?? .max
      state.checks[key, default: []].append(reply)
      return state.checks[key]?.count == 1 ? key : nil
    }
    guard let key else { return }
    let isQueued = core.pool.run { [self] in
      let outcome = checkSegments(from: position, ahead: 0)
      finishCheck(key, outcome)
      if outcome == .checked { _ = checkSegments(from: SegmentTable.border(after: position), ahead: 3) }
    }
    if !isQueued { finishCheck(key, .unavailable("the cache is closed")) }
  }

  private func finishCheck(_ key: UInt64, _ outcome: CheckOutcome) {
    let replies = state.withLock { $0.checks.removeValue(forKey: key) ?? [] }
    wake()
    for reply in replies { reply.send(outcome) }
  }

  /// Blocking. Verifies the segment at `position` and up to `ahead` after it without a hole.
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

  private enum SegmentCheck { case verified(end: UInt64), cut, failed(String) }

  private func checkSegment(at position: UInt64) -> SegmentCheck {
    let found = state.withLock { state in (state.descriptor, state.failure, state.isDoomed) }
    if found.1 != nil { return .cut }
    guard let descriptor = found.0 ?? openForCheck() else {
      return failure == nil ? .failed("\(core.path(of: id)) cannot be opened") : .cut
    }
    let known = state.withLock { state -> (record: SegmentRecord?, verifiedEnd: UInt64, heldEnd: UInt64) in
      (
        state.segments.segment(at: position), state.verified.contiguousEnd(from: position),
        state.held.contiguousEnd(from: position)
      )
    }
    if known.verifiedEnd > position { return .verified(end: known.verifiedEnd) }
    guard known.heldEnd > position else { return .cut }
    guard let record = known.record else {
      cut([SegmentRecord(offset: position, length: known.heldEnd - position, digest: 0, sequence: 0)], "no digest")
      return .cut
    }
    return compare(record, descriptor)
  }

  private func compare(_ record: SegmentRecord, _ descriptor: BodyDescriptor) -> SegmentCheck {
    let verdict = core.withSegmentBuffer { buffer -> Result<Bool, StoreError> in
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(record.length)])
      do throws(StoreError) {
        let count = try Files.read(descriptor.raw, target, at: record.offset)
        return .success(count == target.count && SegmentDigest.of(UnsafeRawBufferPointer(target)) == record.digest)
      } catch {
        return .failure(error)
      }
    }
    switch verdict {
    case .success(true):
      state.withLock { state in
        // Unless it was cut out meanwhile.
        if state.segments.segment(at: record.offset) == record { state.verified.insert(record.range) }
      }
      return .verified(end: record.end)
    case .success(false): cut([record], "its digest does not agree")
    case .failure(.system(let call, let path, let errno)) where errno != EIO:
      return .failed("\(StoreError.system(call: call, path: path, errno: errno))")
    case .failure(let error): cut([record], "\(error)")
    }
    return .cut
  }

  /// Opens the file; one that is missing or no regular file ends the object. Segments beyond its size are cut out.
  private func openForCheck() -> BodyDescriptor? {
    let path = core.path(of: id)
    do throws(StoreError) {
      let raw = try Files.open(path, O_RDWR)
      let descriptor = BodyDescriptor(adopting: raw, pool: core.pool, charge: charge)
      let size = try Files.size(raw, path)
      let chosen = adopt(descriptor)
      cutBeyond(size)
      return chosen
    } catch {
      if case .system(_, _, let errno) = error, errno != ENOENT, errno != EINVAL, errno != ELOOP, errno != ENOTDIR {
        core.openBodies.closeSome()
        core.events.log(.warning, "body-open-failed", ["body": id.hex, "why": "\(error)"])
      } else {
        fail(.disk("\(error)"))
      }
      return nil
    }
  }

  /// A truncated file: what the catalogue knows beyond its size is gone.
  func cutBeyond(_ size: UInt64) {
    let lost = state.withLock { state in
      state.segments.records.filter { $0.end > size && state.verified.contiguousEnd(from: $0.offset) < $0.end }
    }
    if !lost.isEmpty { cut(lost, "the file ends at \(size)") }
  }

  /// Takes segments out of what is held, records and logs it; a body of which nothing is left is
  /// dropped. In the pool.
  func cut(_ records: [SegmentRecord], _ why: String) {
    let outcome = state.withLock { state -> (changes: [CatalogueChange], freed: UInt64, isEmpty: Bool) in
      let before = state.held.count
      for record in records {
        state.held.remove(record.range)
        state.verified.remove(record.range)
        state.segments.remove(record)
      }
      state.heldCount = state.held.count
      state.isComplete = false
      state.isCompleteRecorded = false
      state.memory = nil
      var changes: [CatalogueChange] = [
        .cut(number, offsets: records.map(\.offset), held: state.heldCount)
      ]
      if state.limitTags(to: state.held.prefix) { changes.append(.tags(number, state.tags)) }
      return (state.isPublished && !state.isDoomed ? changes : [], before - state.heldCount, state.held.isEmpty)
    }
    // Two that found the same at once tell of it once.
    guard outcome.freed > 0 else { return }
    charge.shrink(outcome.freed)
    core.counters.withLock { $0.mendings += UInt64(records.count) }
    core.events.log(
      .warning, "body-mended",
      [
        "body": id.hex, "at": "\(records.first?.offset ?? 0)", "bytes": "\(outcome.freed)", "why": why,
      ])
    core.submit(outcome.changes)
    if outcome.isEmpty {
      core.counters.withLock { $0.drops += 1 }
      core.events.log(.warning, "body-dropped", ["body": id.hex, "why": why])
      fail(.disk(why))
    } else {
      wake()
    }
  }

  /// At its first use, and at every fourth while memory is too small for all that is used.
  func wantsMemory() -> Bool {
    state.withLock { state in
      guard state.memory == nil, state.isComplete, (state.total ?? .max) <= core.settings.memoryObject else {
        return false
      }
      state.usesOutsideMemory += 1
      return state.usesOutsideMemory & 3 == 1
    }
  }

  /// Takes a small complete body into memory, verifying what is not yet; in the pool.
  func promote() {
    guard core.settings.memory > 0 else { return }
    let isWanted = state.withLock { state in
      guard state.isComplete, state.memory == nil, !state.isPromoting, state.failure == nil, let total = state.total,
        total > 0, total <= core.settings.memoryObject
      else { return false }
      state.isPromoting = true
      return true
    }
    guard isWanted else { return }
    let isQueued = core.pool.run { [self] in
      loadMemory()
      state.withLock { $0.isPromoting = false }
    }
    if !isQueued { state.withLock { $0.isPromoting = false } }
  }

  /// Blocking.
  func loadMemory() {
    guard let total, total <= core.settings.memoryObject else { return }
    var position: UInt64 = 0
    while position < total {
      guard case .verified(let end) = checkSegment(at: position) else { return }
      position = end
    }
    var bytes = [UInt8](repeating: 0, count: Int(total))
    let count = bytes.withUnsafeMutableBytes { read(0..<total, into: $0) }
    guard count == bytes.count else { return }
    let isKept = state.withLock { state in
      guard state.isComplete, state.failure == nil, !state.isDoomed, state.memory == nil else { return false }
      state.memory = bytes
      state.wasMemoryUsed = true
      state.wasAdmitted = true
      return true
    }
    guard isKept else { return }
    core.memory.remove(ObjectIdentifier(self))
    if !core.memory.admit(self, size: total) { _ = leaveMemory(unlessUsed: false) }
  }
}
