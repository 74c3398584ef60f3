import CLinux
import PawlCache
import PawlDisk

/// Gathering: a small body that comes quickly is kept in memory without readers, and goes to a pack as one record when it is
/// complete. A body that comes slowly, or is too large, gets a file before readers get its bytes, because bytes that a reader has
/// got must not be lost.
extension StoredBody {
  /// Whether the body's bytes are in memory only, so that readers do not get them yet. The server ends this state after
  /// ``gatheringTime`` (``moveToFileSoon()``).
  package var isGathering: Bool { state.withLock { $0.place.isGathering } }

  /// Sets the function that decides which answer to simple requests is stored with the body. The function runs when the body
  /// becomes a record, on any thread.
  package func decideWhenPacked(_ decide: @escaping @Sendable (StoredBody) -> PackedAnswer?) {
    state.withLock { if $0.place.isGathering { $0.decides = decide } }
  }

  /// The time for which a body is gathered before it gets a file. A body that will be complete soon is gathered for up to
  /// ``mostGatheringTime``.
  package static let gatheringTime = Duration.milliseconds(10)
  package static let mostGatheringTime = Duration.milliseconds(50)

  /// Whether the body will be complete within ``mostGatheringTime`` if the rest comes as fast as the bytes that came in `time`.
  package func isWholeSoon(after time: Duration) -> Bool {
    let (came, total) = state.withLock { (UInt64($0.gathered.count), $0.total) }
    guard let total, total > 0, came > 0, time > .zero else { return false }
    return time * Int(total) <= Self.mostGatheringTime * Int(came)
  }

  /// Moves the body to a file, in the pool.
  package func moveToFileSoon() {
    let isWanted = state.withLock { state in
      guard state.place == .gathered else { return false }
      state.place = .settling
      return true
    }
    guard isWanted else { return }
    if !core.pool.run({ [self] in moveToFile() }) { moveToFile() }
  }

  enum Gathering { case gathered, full, notGathering }

  /// Adds bytes to a gathered body.
  func gather(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Gathering {
    let limit = core.packs?.contentLimit ?? 0
    // The file's first segment takes all that is gathered.
    let mostOnItsWay = min(UInt64(2 * limit), SegmentTable.span)
    return state.withLock { state in
      guard state.place.isGathering, state.failure == nil else { return .notGathering }
      let count = UInt64(state.gathered.count)
      let end = offset + UInt64(bytes.count)
      // While a file is being made for the body, up to `limit` more bytes may come. All bytes together must fit into one segment.
      guard offset <= count, end <= (state.place == .settling ? mostOnItsWay : UInt64(limit)),
        end <= state.total ?? .max,
        state.gatheringShare?.covers(end) != false
      else { return .full }
      if end > count {
        if count == 0 { state.gathered = core.gathering.bytes(capacity: Int(min(state.total ?? end, UInt64(limit)))) }
        state.gathered.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[Int(count - offset)...]))
      }
      return .gathered
    }
  }

  /// Moves the body from memory to a file of its own. Does nothing if the body has a file already, or becomes a record first.
  /// Blocks for a moment, because the file is made and its bytes are written into the page cache.
  func moveToFile() {
    guard isGathering else { return }
    core.moving(self) { moveToFileAlone() }
  }

  private func moveToFileAlone() {
    guard isGathering else { return }
    _ = core.unrecorded.withLock { $0.insert(id) }
    do throws(StoreError) {
      let made = try core.openBodies.makingRoom { () throws(StoreError) in try BodyFile.create(id, core, charge) }
      if try fill(made) { return }
      // The body went into a pack meanwhile.
      discardFile()
    } catch {
      discardFile()
      core.noteRefused(.warning, bytes: state.withLock { UInt64($0.gathered.count) }, "\(error)")
      passThroughMemory()
    }
  }

  /// Removes the file that was made for the body and is not needed.
  func discardFile() {
    BodyFile.unlink(id, core)
    _ = core.unrecorded.withLock { $0.remove(id) }
  }

  /// Writes the gathered bytes into the file until none are left.
  /// - Returns: `false` if the body is not gathered any more.
  private func fill(_ made: BodyDescriptor) throws(StoreError) -> Bool {
    enum Step { case write([UInt8]), done(News, isDoomed: Bool), gone }
    let (segment, now, second) = (OpenSegment(start: 0), core.openBodies.now(), core.clock.now().seconds)
    var writings: [Ledger.Writing] = []
    defer { for writing in writings { core.ledger?.end(writing) } }
    while true {
      let step = state.withLock { state -> Step in
        guard state.place.isGathering else { return .gone }
        let rest = state.gathered[Int(segment.end)...]
        guard rest.isEmpty else { return .write(Array(rest)) }
        state.enterFile(made, segment, now)
        state.warmth.note(0..<max(1, segment.end), at: second)
        charge.grow(segment.end + DiskBudget.objectOverhead)
        // Submitted under the lock, before another thread can record more about the body.
        if let (row, tags) = state.birth, !state.isDoomed {
          core.recordBirth([.insert(row), .tags(number, tags)], of: self)
        }
        return .done(state.takeNews(isForced: true), isDoomed: state.isDoomed)
      }
      switch step {
      case .gone: return false
      case .write(let bytes):
        try Files.writeAll(made.raw, bytes[...], at: segment.end)
        bytes.withUnsafeBytes { segment.append($0) }
        if let writing = noteInLedger([segment], 0..<segment.end, takesBirth: false) { writings.append(writing) }
      case .done(let news, let isDoomed):
        core.noteLive(self)
        core.openBodies.add(self)
        if isDoomed { BodyFile.remove(id, core, charge) }
        announce(news)
        wake()
        return true
      }
    }
  }

  /// Passes the bytes to the readers through the memory window, because no file could be made. The bytes are not stored.
  private func passThroughMemory() {
    let released = state.withLock { state -> UInt64? in
      guard state.place.isGathering else { return nil }
      var window = MemoryWindow()
      _ = state.gathered.withUnsafeBytes { window.append($0, at: 0) }
      (state.window, state.gathered, state.place, state.decides) = (window, [], .file, nil)
      _ = state.limitTags(to: 0)
      return state.takeReservation()
    }
    guard let released else { return }
    core.budget.release(released)
    core.noteLive(self)
    wake()
    core.drop(self)
  }

  /// Completes a gathered body, which becomes a record in a pack.
  /// - Returns: `nil` if the body is not gathered, or must have a file; `false` if bytes are missing.
  func completeGathered() -> Bool? {
    enum Way { case elsewhere, missing, memory, record(ObjectRow, [TagRecord], [UInt8]) }
    let way = state.withLock { state -> Way in
      guard state.place.isGathering, state.failure == nil else { return .elsewhere }
      guard state.total ?? UInt64(state.gathered.count) == UInt64(state.gathered.count) else { return .missing }
      state.total = UInt64(state.gathered.count)
      if state.isDoomed { return .memory }
      guard let birth = state.birth else { return .elsewhere }
      return .record(birth.row, birth.tags, state.gathered)
    }
    switch way {
    case .elsewhere:
      moveToFile()
      return nil
    case .missing: return false
    case .memory: stayInMemory()
    case .record(let row, let tags, let bytes): if !pack(row, tags, bytes) { return nil }
    }
    wake()
    return true
  }

  /// Keeps the complete body in memory for its present readers only, because it was taken out of the index.
  private func stayInMemory() {
    let released = state.withLock { state -> UInt64 in
      _ = state.content.completed()
      (state.memory, state.gathered, state.place) = (state.gathered, [], .file)
      state.held.insert(0..<UInt64(state.memory?.count ?? 0))
      return state.takeReservation()
    }
    core.budget.release(released)
  }

  /// Writes the body as a record into a pack.
  /// - Returns: `false` if the body did not become a record. Then it has a file, or its bytes pass through memory to the readers.
  private func pack(_ row: ObjectRow, _ tags: [TagRecord], _ bytes: [UInt8]) -> Bool {
    let digest = bytes.withUnsafeBytes { SegmentDigest.of($0) }
    let decide = state.withLock { state in
      defer { state.decides = nil }
      // A superseded body is given only to requests that name its tag, and so is a private body. So no answer to simple requests
      // is decided for either.
      return row.supersededAt == nil && row.kind == .shared ? state.decides : nil
    }
    let answer = decide?(self)?.bytes ?? []
    let front = PackRecord.front(
      of: row, tags, answer: answer, content: bytes.count, digest: digest, seed: core.packs?.seed ?? 0)
    let now = core.clock.now()
    guard let front, let packs = core.packs, let (place, descriptor) = packs.append(front, content: bytes) else {
      moveToFile()
      return false
    }
    let keepsMemory = bytes.count <= Int(clamping: core.memoryObject) && core.memory.limit > 0
    let outcome = state.withLock { state -> (released: UInt64, behind: [CatalogueChange])? in
      guard state.place.isGathering, !state.isDoomed, let birth = state.birth else { return nil }
      state.enterPack(place, descriptor, bytes.count, digest)
      // The bytes need no check, because they were written just now.
      state.lookedAt = FileStamp.moment(now)
      state.warmth.note(0..<max(1, UInt64(bytes.count)), at: now.seconds)
      state.gathered = []
      if keepsMemory { (state.memory, state.memoryUse) = (bytes, .kept) }
      state.birth = nil
      _ = state.content.completed()
      state.content.wasRecorded()
      // The row and the tags may have changed while the record was written.
      return (state.takeReservation(), CatalogueChange.between((row, tags), birth))
    }
    guard let outcome else {
      packs.kill(place)
      // The body was taken out of the index, or has got a file meanwhile.
      guard state.withLock({ $0.place.isGathering }) else { return false }
      stayInMemory()
      return true
    }
    core.budget.release(outcome.released)
    if !keepsMemory { core.gathering.giveBack(bytes) }
    if keepsMemory, !core.memory.admit(self, size: UInt64(bytes.count)) { _ = leaveMemory(unlessUsed: false) }
    if !outcome.behind.isEmpty { core.record(outcome.behind, of: self) }
    return true
  }
}

extension BodyState {
  /// Notes that all bytes are in a pack, and that they are verified.
  mutating func enterPack(_ place: PackPlace, _ descriptor: BodyDescriptor, _ count: Int, _ digest: UInt64) {
    (self.place, self.descriptor) = (.packed(place), descriptor)
    let range = 0..<UInt64(count)
    (sequence, syncedSequence, sync) = (1, 1, .idle)
    heldCount = range.upperBound
    guard count > 0 else { return }
    held.insert(range)
    verified.insert(range)
    _ = segments.insert(SegmentRecord(offset: 0, length: range.upperBound, digest: digest, sequence: 1))
  }

  /// Notes that all bytes so far are in a file of the body's own, as one segment.
  fileprivate mutating func enterFile(_ made: BodyDescriptor, _ segment: OpenSegment, _ now: UInt64) {
    let count = segment.end
    (place, descriptor, lastTouch, decides, gathered) = (.file, made, now, nil, [])
    reservation -= min(count + DiskBudget.objectOverhead, reservation)
    stamp = FileStamp(of: made.raw)
    guard count > 0 else { return }
    held.insert(0..<count)
    verified.insert(0..<count)
    giveBack(segment)
    heldCount += count
    writtenHere += count
    unrecordedBytes += count
    unsyncedBytes += count
  }
}
