import PawlBase
import PawlDisk
package import PawlLoop
import PawlUpload

extension UploadStore {
  package typealias Created = Result<SpooledUpload, UploadStoreRefusal>

  /// Creates an upload without bytes.
  /// - Parameters:
  ///   - finalAt: the length at which the creation request completes the upload; `nil`: the request does not complete it.
  ///   - durably: whether the upload has to survive a power cut when `then` runs (needed for a 201). `false`: it has to survive
  ///     `kill -9` only (enough for a 104).
  package func create(
    _ id: UploadID, _ origin: UploadOrigin, length: UInt64?, finalAt: UInt64?, durably: Bool, on loop: EventLoop,
    then: @escaping (Created) -> Void
  ) {
    let reply = LoopReply(on: loop, core.counting(then))
    let isPart = origin.concatenation == .partial
    let record = core.settings.countsRecords ? UploadRecord.size(of: origin) : 0
    if let refusal = core.budget.admit(origin.client, length: length, isPart: isPart, record: record) {
      return reply.send(.failure(refusal))
    }
    var row = UploadRow(at: core.clock.wallSeconds())
    (row.length, row.finalAt) = (length, finalAt)
    let isQueued = core.pool.run { [core, row] in
      core.make(id, origin, row, kept: record, durably: durably, fill: { _, _ in }, then: { reply.send($0) })
    }
    if !isQueued {
      core.budget.leave(origin.client)
      core.budget.keep(origin.client, from: record, to: 0)
      reply.send(.failure(.failed(.dropped)))
    }
  }

  /// Creates a complete and durable upload from the bytes of other uploads (tus concatenation). The parts must have all of their
  /// bytes; they are not removed.
  package func concatenate(
    _ id: UploadID, _ origin: UploadOrigin, parts: [SpooledUpload], on loop: EventLoop,
    then: @escaping (Created) -> Void
  ) {
    let reply = LoopReply(on: loop, core.counting(then))
    var (total, replaced) = (UInt64(0), UInt64(0))
    var counted = Set<UploadID>()
    for part in parts {
      let count = part.state.withLock { state in
        state.isFreed || state.row.length != state.written ? nil : state.row.length
      }
      guard let count else { return reply.send(.failure(.failed(.dropped))) }
      let (sum, overflows) = total.addingReportingOverflow(count)
      guard !overflows else { return reply.send(.failure(.tooLarge)) }
      total = sum
      // Parts in another spool take no space of this spool.
      if part.client == origin.client, part.core === core, counted.insert(part.id).inserted { replaced += count }
    }
    var origin = origin
    origin.parts = parts.map(\.id)
    let record = core.settings.countsRecords ? UploadRecord.size(of: origin) : 0
    if let refusal = core.budget.admitWhole(origin.client, length: total, replacing: replaced, record: record) {
      return reply.send(.failure(refusal))
    }
    let isQueued = core.longJobs.run { [core, origin, total] in
      core.concatenate(id, origin, parts, total, kept: record) { reply.send($0) }
    }
    guard !isQueued else { return }
    core.budget.giveBack(origin.client, total)
    core.budget.keep(origin.client, from: record, to: 0)
    reply.send(.failure(.failed(.dropped)))
  }
}

extension SpoolCore {
  /// Counts a creation until its caller knows the outcome (``UploadStore/isBeingWritten``).
  fileprivate func counting(_ then: @escaping (UploadStore.Created) -> Void) -> (UploadStore.Created) -> Void {
    _ = creations.add(1)
    return { [self] created in
      then(created)
      _ = creations.add(.max)  // one less
    }
  }

  /// Creates the file, the object and the row of an upload that the budget has admitted. Blocking.
  /// - Parameter kept: the size of the upload's record (``UploadRecord``) that the budget has counted.
  func make(
    _ id: UploadID, _ origin: UploadOrigin, _ row: UploadRow, kept: UInt64, durably: Bool,
    fill: (UploadDescriptor, SpooledUpload) throws(StoreError) -> Void,
    then: @escaping @Sendable (Result<SpooledUpload, UploadStoreRefusal>) -> Void
  ) {
    let charge = DiskCharge(budget.disk, bytes: 0)
    let upload = SpooledUpload(
      id, origin, createdAt: row.changedAt, bornAt: clock.now(), charge: charge, core: self, row: row)
    upload.state.withLock { $0.kept = kept }
    guard add(upload) else {
      if row.phase == .open { budget.leave(origin.client) }
      upload.forgetRecord()
      return then(.failure(.failed(.dropped)))
    }
    do throws(StoreError) {
      let descriptor = try UploadFile.create(id, durably: durably, self, charge)
      try fill(descriptor, upload)
      upload.state.withLock { state in
        if !state.isFreed { state.descriptor = descriptor }
        state.isNameSynced = durably
      }
    } catch {
      undo(upload)
      return then(.failure(error == .full ? .full : .failed(error)))
    }
    stir(upload)
    record(upload, durably: durably) { [self] isRecorded in
      upload.noteRecorded(isRecorded, durably: durably)
      if isRecorded {
        let isPossible = upload.state.withLock { $0.making.wasMade() }
        if !isPossible { events.log(.error, "upload-internal-error", ["upload": id.hex, "event": "made"]) }
        return then(.success(upload))
      }
      undo(upload)
      submit([.forget(id)])
      then(.failure(.failed(.catalogue(code: StoreError.failedCommit, message: "not recorded"))))
    }
  }

  /// Removes an upload that no client was told of.
  private func undo(_ upload: SpooledUpload) {
    remove(upload)
    note(.undone, of: upload.id, upload.state.withLock { $0.row.take(.undone) })
    upload.free()
    upload.forgetRecord()
    upload.count(as: .none)
    upload.notify()
  }

  /// Copies the parts into a new upload. Blocking; takes longer for larger parts. `total` bytes are reserved already.
  func concatenate(
    _ id: UploadID, _ origin: UploadOrigin, _ parts: [SpooledUpload], _ total: UInt64, kept: UInt64,
    then: @escaping @Sendable (Result<SpooledUpload, UploadStoreRefusal>) -> Void
  ) {
    var row = UploadRow(at: clock.wallSeconds(), phase: .complete)
    (row.offset, row.length) = (total, total)
    let whole = Locked<UInt64>(0)
    make(id, origin, row, kept: kept, durably: true) { (descriptor, upload) throws(StoreError) in
      let charge = upload.charge
      // If the copy fails, only the copied bytes have to be given back with the file.
      upload.state.withLock { $0.end = 0 }
      var copied: UInt64 = 0
      for part in parts {
        // When the spool is closed, no caller waits for the copy any more.
        guard catalogue != nil, let count = part.state.withLock({ $0.isFreed ? nil : $0.row.length }) else {
          throw .dropped
        }
        // The file is retained until it is copied. The part may be removed meanwhile, and its file must not be reused for another
        // upload during the copy.
        let source = try part.openFile()
        defer { withExtendedLifetime(source) {} }
        try UploadFile.copy(source.raw, to: descriptor.raw, at: copied, count: count)
        charge.grow(count)
        copied += count
        whole.withLock { [copied] in $0 = copied }
        let isFreed = upload.state.withLock { state in
          state.end = copied
          return state.isFreed
        }
        guard isFreed else { continue }
        budget.forget(origin.client, count)
        throw .dropped
      }
      try UploadFile.sync(descriptor.raw, path(of: id))
      withExtendedLifetime(descriptor) {}
    } then: { [self] result in
      // The copied bytes were given back with the file.
      if case .failure = result { budget.giveBack(origin.client, total - whole.withLock { $0 }) }
      then(result)
    }
  }
}
