import PawlBase
import PawlDisk
package import PawlLoop
import PawlUpload

extension UploadStore {
  package typealias Created = Result<SpooledUpload, UploadStoreRefusal>

  /// Makes an upload without bytes.
  /// - Parameters:
  ///   - finalAt: the creation request completes the upload when so many bytes have come.
  ///   - durably: `false`: it survives `kill -9` when `then` runs (enough for a 104); `true`: a power cut (a 201).
  package func create(
    _ id: UploadID, _ origin: UploadOrigin, length: UInt64?, finalAt: UInt64?, durably: Bool, on loop: EventLoop,
    then: @escaping (Created) -> Void
  ) {
    let reply = LoopReply(on: loop, then)
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

  /// Makes an upload of the bytes of others, complete and durable (tus concatenation). The parts have to have all of
  /// their bytes; they stay.
  package func concatenate(
    _ id: UploadID, _ origin: UploadOrigin, parts: [SpooledUpload], on loop: EventLoop,
    then: @escaping (Created) -> Void
  ) {
    let reply = LoopReply(on: loop, then)
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
      // Those of another spool take no room of this one.
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
  /// Makes file, object and row of an upload that was admitted. Blocking.
  /// - Parameter kept: what was counted for it besides its bytes.
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
        if !isPossible { events.log(.error, "upload-event-impossible", ["upload": id.hex, "event": "made"]) }
        return then(.success(upload))
      }
      undo(upload)
      submit([.forget(id)])
      then(.failure(.failed(.catalogue(code: StoreError.failedCommit, message: "not recorded"))))
    }
  }

  /// It was never told of.
  private func undo(_ upload: SpooledUpload) {
    remove(upload)
    note(.undone, of: upload.id, upload.state.withLock { $0.row.take(.undone) })
    upload.free()
    upload.forgetRecord()
    upload.count(as: .none)
    upload.notify()
  }

  /// Blocking, as long as copying takes. So many bytes are promised.
  func concatenate(
    _ id: UploadID, _ origin: UploadOrigin, _ parts: [SpooledUpload], _ total: UInt64, kept: UInt64,
    then: @escaping @Sendable (Result<SpooledUpload, UploadStoreRefusal>) -> Void
  ) {
    var row = UploadRow(at: clock.wallSeconds(), phase: .complete)
    (row.offset, row.length) = (total, total)
    let whole = Locked<UInt64>(0)
    make(id, origin, row, kept: kept, durably: true) { (descriptor, upload) throws(StoreError) in
      let charge = upload.charge
      // Only what was copied has to be given back with the file.
      upload.state.withLock { $0.end = 0 }
      var copied: UInt64 = 0
      for part in parts {
        // Nobody waits for a copy that the spool is closed under.
        guard catalogue != nil, let count = part.state.withLock({ $0.isFreed ? nil : $0.row.length }) else {
          throw .dropped
        }
        // Held until it is copied: a part may be removed meanwhile, and its file is nobody else's before.
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
      // What was copied went with the file.
      if case .failure = result { budget.giveBack(origin.client, total - whole.withLock { $0 }) }
      then(result)
    }
  }
}
