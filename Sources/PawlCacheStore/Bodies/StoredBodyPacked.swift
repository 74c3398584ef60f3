import CLinux
import PawlCache
import PawlDisk

/// A body whose octets stand in a pack.
extension StoredBody {
  /// All of it, when that is in the page cache, and is what was written. Kept in memory at its first use, and at every fourth. On a loop.
  func readPacked() -> [UInt8]? {
    let (descriptor, count, digest, wantsMemory) = state.withLock { state in
      state.usesOutsideMemory += 1
      let isWanted = state.usesOutsideMemory & 3 == 1 && state.heldCount <= core.settings.memoryObject
      return (state.descriptor, Int(state.heldCount), state.segments.records.first?.digest, isWanted)
    }
    guard let descriptor, let pack = descriptor.pack, let digest,
      case .octets(let bytes) = pack.read(Int(descriptor.base), count, waits: false),
      bytes.withUnsafeBytes({ SegmentDigest.of($0) }) == digest
    else { return nil }
    if wantsMemory { keepInMemory(bytes) }
    return bytes
  }

  private func keepInMemory(_ bytes: [UInt8]) {
    guard core.settings.memory > 0, core.memory.admit(self, size: UInt64(bytes.count)) else { return }
    state.withLock { state in
      guard state.content.isWhole, !state.isDoomed else { return }
      (state.memory, state.memoryUse) = (bytes, .used)
    }
  }

  /// The object is gone: so are its octets, wherever they are.
  func removeOctets() {
    switch state.withLock({ $0.place }) {
    case .file: BodyFile.remove(id, core, charge)
    case .packed(let place): core.packs?.kill(place)
    // Who reads it waits for the rest.
    case .gathered, .settling: break
    }
  }

  /// Writes a new record with what has changed, until nothing has. Blocking.
  func rewrite() {
    while true {
      let work = state.withLock {
        state -> (place: PackPlace, edits: [CatalogueChange], done: [@Sendable (Bool) -> Void])? in
        guard let place = state.place.packed, !state.isDoomed, !state.edits.isEmpty else { return nil }
        defer { (state.edits, state.edited) = ([], []) }
        return (place, state.edits, state.edited)
      }
      guard let work else { break }
      let isWritten = move(from: work.place, work.edits)
      for done in work.done { done(isWritten) }
    }
    let left = state.withLock { state in
      defer { (state.edits, state.edited, state.isEditing) = ([], [], false) }
      return state.edited
    }
    for done in left { done(false) }
  }

  /// A new record in place of the one it has. By one thread at a time. Blocking.
  func move(from place: PackPlace, _ changes: [CatalogueChange] = []) -> Bool {
    guard let packs = core.packs, let (pack, octets) = packs.rewritten(place, changes) else { return false }
    guard let next = packs.append(octets), let target = packs.pack(next.pack) else { return false }
    let isMoved = state.withLock { state in
      guard state.place == .packed(place), !state.isDoomed else { return false }
      let start = UInt64(next.offset + octets.count - PackRecord.padded(Int(state.heldCount)))
      (state.place, state.descriptor) = (.packed(next), BodyDescriptor(in: target, at: start))
      return true
    }
    packs.kill(isMoved ? place : next)
    withExtendedLifetime(pack) {}
    return isMoved
  }

  /// Gives a body that stands in a pack a file of its own, with rows in the catalogue: for what only files know. Nothing happens to
  /// another. Blocking.
  func unpack() {
    guard let place = state.withLock({ $0.place.packed }), let packs = core.packs,
      let record = packs.record(place)
    else { return }
    _ = core.unrecorded.withLock { $0.insert(id) }
    do throws(StoreError) {
      let descriptor = try core.openBodies.makingRoom { () throws(StoreError) in try BodyFile.create(id, core, charge) }
      try Files.writeAll(descriptor.raw, record.octets[record.record.content], at: 0)
      let isMoved = state.withLock { state in
        guard state.place == .packed(place), !state.isDoomed else { return false }
        (state.place, state.descriptor, state.stamp) = (.file, descriptor, nil)
        (state.sequence, state.syncedSequence, state.content) = (
          1, 0, state.content.isComplete ? .complete : state.content
        )
        return true
      }
      guard isMoved else {
        BodyFile.unlink(id, core)
        _ = core.unrecorded.withLock { $0.remove(id) }
        return
      }
      let count = UInt64(record.record.content.count)
      charge.add(count + DiskBudget.objectOverhead)
      core.noteLive(self)
      core.openBodies.add(self)
      var row = record.record.row
      (row.isComplete, row.held, row.synced) = (false, count, 0)
      core.recordBirth(
        [.insert(row), .tags(number, tags)]
          + (record.record.segment.map { [.segments(number, [$0], held: count)] } ?? []), of: self)
      packs.kill(place)
    } catch {
      _ = core.unrecorded.withLock { $0.remove(id) }
      core.events.log(.error, "body-unpack-failed", ["body": id.hex, "why": "\(error)"])
    }
  }
}

extension Packs {
  /// A record, whose content may be damaged. Blocking.
  func record(_ place: PackPlace) -> (octets: [UInt8], record: PackRecord)? {
    guard let pack = pack(place.pack), case .octets(let octets) = pack.read(place, waits: true),
      let record = octets.withUnsafeBytes({ PackRecord($0, seed: seed) })
    else { return nil }
    return (octets, record)
  }

  /// The same object with these changes. Blocking.
  /// - Returns: with it, the pack that it is in now.
  func rewritten(_ place: PackPlace, _ changes: [CatalogueChange]) -> (Pack, [UInt8])? {
    guard let pack = pack(place.pack), let (octets, record) = record(place) else { return nil }
    var (row, tags) = (record.row, record.tags)
    for change in changes { change.apply(to: &row, &tags) }
    // What was decided was decided of what it was.
    let answer = changes.isEmpty ? record.answer : []
    let made = octets.withUnsafeBytes { octets in
      PackRecord.octets(
        of: row, tags, answer: answer, content: UnsafeRawBufferPointer(rebasing: octets[record.content]),
        digest: record.digest,
        seed: seed)
    }
    return made.map { (pack, $0) }
  }
}

extension BodyCore {
  /// Records changes of one body, wherever it is recorded. `completion` runs on any thread.
  func record(
    _ changes: [CatalogueChange], of body: StoredBody, then completion: (@Sendable (Bool) -> Void)? = nil
  ) {
    enum Way { case catalogue, done, edit, edits }
    let way = body.state.withLock { state -> Way in
      switch state.place {
      case .file: return .catalogue
      case .gathered, .settling:
        // It is in no catalogue yet.
        guard var birth = state.birth else { return .done }
        for change in changes { change.apply(to: &birth.row, &birth.tags) }
        state.birth = birth
        return .done
      case .packed:
        state.edits += changes
        if let completion { state.edited.append(completion) }
        defer { state.isEditing = true }
        return state.isEditing ? .edits : .edit
      }
    }
    switch way {
    case .catalogue: submit(changes, then: completion)
    case .done: completion?(true)
    case .edit: if !pool.run({ body.rewrite() }) { body.rewrite() }
    case .edits: break
    }
  }

  /// Records a body of which the catalogue knows nothing yet.
  func recordBirth(_ changes: [CatalogueChange], of body: StoredBody) {
    submit(changes) { [self] isRecorded in
      guard isRecorded else { return }
      _ = unrecorded.withLock { $0.remove(body.id) }
      body.state.withLock { $0.birth = nil }
    }
  }
}

extension CatalogueChange {
  /// Does to a row in memory what it does to one in the catalogue, as far as a whole body can be changed.
  func apply(to row: inout ObjectRow, _ tags: inout [TagRecord]) {
    switch self {
    case .head(_, let head): row.head = head
    case .tags(_, let all): tags = all
    case .total(_, let total): row.total = total
    case .superseded(_, let time): row.supersededAt = time
    case .current: row.supersededAt = nil
    case .owner(_, let owner): row.owner = owner
    case .insert, .remove, .segments, .cut, .synced, .complete, .cleared, .used, .meta, .outdated, .settled: break
    }
  }
}
