import CLinux
import PawlCache
import PawlDisk

/// Bodies whose bytes are in a pack.
extension StoredBody {
  /// Returns all bytes if they are in the page cache and unchanged; else `nil`. A small body is also put into memory at its first
  /// use, and at every fourth use after it. Called on a loop.
  func readPacked() -> [UInt8]? {
    let wantsMemory = state.withLock { state in
      state.usesOutsideMemory += 1
      return state.usesOutsideMemory & 3 == 1 && state.heldCount <= core.memoryObject
    }
    switch lookIntoPack() {
    case .same(let bytes):
      if wantsMemory { keepInMemory(bytes) }
      return bytes
    case .changed, .unknown: return nil
    }
  }

  enum PackLook { case same([UInt8]), changed, unknown }

  /// Compares the body's bytes in the pack with their digest, unless that would wait for the disk. If they differ, none of the
  /// bytes are trusted any more.
  func lookIntoPack() -> PackLook {
    let (descriptor, count, digest) = state.withLock { state in
      (state.descriptor, Int(state.heldCount), state.segments.records.first?.digest)
    }
    guard let descriptor, let pack = descriptor.pack else { return .unknown }
    guard count > 0, let digest else { return .same([]) }
    guard case .bytes(let bytes) = pack.read(Int(descriptor.base), count, waits: false) else { return .unknown }
    if bytes.withUnsafeBytes({ SegmentDigest.of($0) }) == digest { return .same(bytes) }
    state.withLock { state in
      guard state.descriptor === descriptor, !state.verified.isEmpty else { return }
      state.fileChange.count += 1
      state.fileChange.size = nil
      state.distrust()
    }
    return .changed
  }

  private func keepInMemory(_ bytes: [UInt8]) {
    guard core.memory.limit > 0, !bytes.isEmpty else { return }
    let isKept = state.withLock { state in
      guard state.content.isWhole, !state.isDoomed, state.memory == nil else { return false }
      (state.memory, state.memoryUse) = (bytes, .used)
      return true
    }
    if isKept, !core.memory.admit(self, size: UInt64(bytes.count)) { _ = leaveMemory(unlessUsed: false) }
  }

  /// Removes the bytes of a removed object, wherever they are.
  func removeBytes() {
    switch state.withLock({ $0.place }) {
    case .file: BodyFile.remove(id, core, charge)
    case .packed(let place): core.packs?.kill(place)
    // Nothing is on disk, and the present readers still get the bytes.
    case .gathered, .settling: break
    }
  }

  /// Records the changes that wait, until there are none left. They go into a new record, or into the catalogue if the body has
  /// got a file meanwhile. Blocking.
  func rewrite() {
    while let done = core.moving(self, { rewriteOnce() }) { done() }
  }

  private typealias Edits = (place: PackPlace?, changes: [CatalogueChange], done: [@Sendable (Bool) -> Void])

  private func takeEdits() -> Edits? {
    state.withLock { state in
      guard !state.edits.isEmpty || !state.edited.isEmpty else {
        state.isEditing = false
        return nil
      }
      defer { (state.edits, state.edited) = ([], []) }
      return (state.isDoomed ? nil : state.place.packed, state.isDoomed ? [] : state.edits, state.edited)
    }
  }

  /// Records the changes that wait now.
  /// - Returns: a function that runs the completions, to be called without a lock; `nil` if there were no changes.
  private func rewriteOnce() -> (() -> Void)? {
    guard let edits = takeEdits() else {
      let kept = core.rewriting.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
      // A change may have come between taking the two locks.
      if kept != nil, state.withLock({ $0.isEditing }) { core.rewriting.withLock { $0[ObjectIdentifier(self)] = self } }
      return kept.map { kept in { withExtendedLifetime(kept) {} } }
    }
    let tell: @Sendable (Bool) -> Void = { isRecorded in for done in edits.done { done(isRecorded) } }
    if edits.changes.isEmpty { return { tell(false) } }
    if let place = edits.place {
      if moveAlone(from: place, edits.changes) { return { tell(true) } }
      if core.packs?.record(place) == nil {
        // Another body of this object has moved the record. Or the record is damaged, and the next reader finds that out.
        return { [core] in core.passOn(edits.changes, from: self, then: tell) }
      }
      // The new record could not be written. The old one must not be used any more, because it is out of date.
      unpackAlone()
      if state.withLock({ $0.place.packed != nil && !$0.isDoomed }) {
        return { [core] in
          core.drop(self)
          tell(false)
        }
      }
    }
    return { [core] in core.submit(edits.changes, then: tell) }
  }

  /// Writes a new record that replaces the present one. Blocking.
  /// - Returns: `false` if that failed.
  func move(from place: PackPlace) -> Bool { core.moving(self) { moveAlone(from: place, []) } }

  private func moveAlone(from place: PackPlace, _ changes: [CatalogueChange]) -> Bool {
    guard let packs = core.packs, let bytes = packs.rewritten(place, changes),
      let (next, descriptor) = packs.append(bytes, content: Int(total ?? 0))
    else { return false }
    let isMoved = state.withLock { state in
      guard state.place == .packed(place), !state.isDoomed else { return false }
      (state.place, state.descriptor) = (.packed(next), descriptor)
      return true
    }
    // Other bodies and the index get the new place before the old record is marked as dead.
    if isMoved { core.noteMoved(self, from: place, to: next, descriptor) }
    packs.kill(isMoved ? place : next)
    return isMoved
  }

  /// Moves a body from a pack to a file of its own, with rows in the catalogue. Some operations need that, because only files
  /// support them. Does nothing for a body that is not in a pack. Blocking.
  func unpack() {
    guard state.withLock({ $0.place.packed != nil }) else { return }
    core.moving(self) { unpackAlone() }
  }

  private func unpackAlone() {
    guard let place = state.withLock({ $0.place.packed }), let packs = core.packs,
      let (bytes, record) = packs.record(place)
    else { return }
    _ = core.unrecorded.withLock { $0.insert(id) }
    do throws(StoreError) {
      let made = try core.openBodies.makingRoom { () throws(StoreError) in try BodyFile.create(id, core, charge) }
      try Files.writeAll(made.raw, bytes[record.content], at: 0)
      let isMoved = state.withLock { state in
        guard state.place == .packed(place), !state.isDoomed else { return false }
        state.leavePack(made, UInt64(record.content.count))
        charge.add(UInt64(record.content.count) + DiskBudget.objectOverhead)
        // Submitted under the lock, before another thread can record more about the body.
        core.recordBirth(record.rows(state.tags), of: self)
        return true
      }
      guard isMoved else { return discardFile() }
      core.noteLive(self)
      core.openBodies.add(self)
      core.durability.add(self)
      packs.kill(place)
    } catch {
      discardFile()
      core.events.log(.error, "body-unpack-failed", ["body": id.hex, "why": "\(error)"])
    }
  }
}

extension BodyState {
  /// Notes that all bytes are in a file of the body's own, which is not synced yet.
  fileprivate mutating func leavePack(_ made: BodyDescriptor, _ count: UInt64) {
    (place, descriptor, stamp) = (.file, made, FileStamp(of: made.raw))
    (sequence, syncedSequence, sync, unsyncedBytes) = (1, 0, .never, count)
    if content == .recorded { content = .complete }
  }
}

extension PackRecord {
  /// The rows of the object for the catalogue, once its content is in a file.
  fileprivate func rows(_ tags: [TagRecord]) -> [CatalogueChange] {
    let count = UInt64(content.count)
    var row = row
    (row.isComplete, row.held, row.synced) = (false, count, 0)
    return [.insert(row), .tags(row.number, tags)]
      + (segment.map { [.segments(row.number, [$0], held: count)] } ?? [])
  }
}

extension Packs {
  /// Reads a record, whose content may be damaged; `nil` if there is no record any more.
  /// - Parameter waits: whether this may wait for the disk; always `false` on a loop. If `false`, the result is also `nil` if the
  ///   record is not in the page cache.
  func record(_ place: PackPlace, waits: Bool = true) -> (bytes: [UInt8], record: PackRecord)? {
    guard let pack = pack(place.pack), case .bytes(let bytes) = pack.read(place, waits: waits),
      let record = bytes.withUnsafeBytes({ PackRecord($0, seed: seed) })
    else { return nil }
    return (bytes, record)
  }

  /// Writes a record.
  /// - Parameter count: bytes of the content.
  /// - Returns: the place of the record, and a descriptor that begins at its content.
  func append(_ bytes: [UInt8], content count: Int) -> (PackPlace, BodyDescriptor)? {
    guard let place = append(bytes), let pack = pack(place.pack) else { return nil }
    let start = place.offset + bytes.count - PackRecord.padded(count)
    return (place, BodyDescriptor(in: pack, at: UInt64(start)))
  }

  /// Writes a record from two parts: its front, which is everything before the content, and its content.
  func append(_ front: [UInt8], content: [UInt8]) -> (PackPlace, BodyDescriptor)? {
    guard let place = content.withUnsafeBytes({ append(front, $0) }), let pack = pack(place.pack) else { return nil }
    return (place, BodyDescriptor(in: pack, at: UInt64(place.offset + front.count)))
  }

  /// Returns the bytes of a new record of the same object with these changes. Blocking.
  func rewritten(_ place: PackPlace, _ changes: [CatalogueChange]) -> [UInt8]? {
    guard let (bytes, record) = record(place) else { return nil }
    var (row, tags) = (record.row, record.tags)
    for change in changes { change.apply(to: &row, &tags) }
    // The answer was decided for the unchanged object, so a changed object has none.
    let answer = changes.isEmpty ? record.answer : []
    return bytes.withUnsafeBytes { bytes in
      PackRecord.bytes(
        of: row, tags, revision: record.revision &+ (changes.isEmpty ? 0 : 1), answer: answer,
        content: UnsafeRawBufferPointer(rebasing: bytes[record.content]), digest: record.digest, seed: seed)
    }
  }
}

extension BodyCore {
  /// Records changes of one body, in the catalogue or in its pack. `completion` runs on any thread.
  func record(
    _ changes: [CatalogueChange], of body: StoredBody, then completion: (@Sendable (Bool) -> Void)? = nil
  ) {
    enum Way { case catalogue, done, edit, edits }
    let way = body.state.withLock { state -> Way in
      switch state.place {
      case .file where !state.isEditing: return .catalogue
      case .gathered, .settling:
        // The body is not in the catalogue yet.
        guard var birth = state.birth else { return .done }
        for change in changes { change.apply(to: &birth.row, &birth.tags) }
        state.birth = birth
        return .done
      case .packed, .file:
        state.edits += changes
        if let completion { state.edited.append(completion) }
        defer { state.isEditing = true }
        return state.isEditing ? .edits : .edit
      }
    }
    switch way {
    case .catalogue: submit(changes, then: completion)
    case .done: completion?(true)
    case .edit:
      rewriting.withLock { $0[ObjectIdentifier(body)] = body }
      if !pool.run({ body.rewrite() }) { body.rewrite() }
    case .edits: break
    }
  }

  /// Records a body that the catalogue does not have yet.
  func recordBirth(_ changes: [CatalogueChange], of body: StoredBody) {
    submit(changes) { [self] isRecorded in
      guard isRecorded else { return }
      _ = unrecorded.withLock { $0.remove(body.id) }
      body.state.withLock { $0.birth = nil }
    }
  }
}

extension CatalogueChange {
  /// Applies the change to a row in memory as it is applied in the catalogue. Only changes that a complete body can have are
  /// applied.
  func apply(to row: inout ObjectRow, _ tags: inout [TagRecord]) {
    switch self {
    case .head(_, let head): row.head = head
    case .tags(_, let all): tags = all
    case .total(_, let total): row.total = total
    case .superseded(_, let time): row.supersededAt = time
    case .current: row.supersededAt = nil
    case .owner(_, let owner): row.owner = owner
    case .insert, .remove, .segments, .cut, .synced, .complete, .cleared, .used, .meta, .outdated, .forgotten: break
    }
  }
}

extension CatalogueChange {
  /// Returns the changes that turn `old` into `new`. Only changes that a complete body can have are included.
  static func between(
    _ old: (row: ObjectRow, tags: [TagRecord]), _ new: (row: ObjectRow, tags: [TagRecord])
  ) -> [CatalogueChange] {
    let number = new.row.number
    var changes: [CatalogueChange] = []
    if old.row.head != new.row.head { changes.append(.head(number, new.row.head)) }
    if old.row.supersededAt != new.row.supersededAt {
      changes.append(new.row.supersededAt.map { .superseded(number, at: $0) } ?? .current(number))
    }
    if old.row.owner != new.row.owner { changes.append(.owner(number, new.row.owner ?? [])) }
    if old.tags != new.tags { changes.append(.tags(number, new.tags)) }
    return changes
  }
}
