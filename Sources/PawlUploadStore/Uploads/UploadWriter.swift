import PawlDisk
import PawlLoop

/// The result of adding bytes.
package enum UploadWriteResult: Hashable, Sendable {
  /// All bytes count; `unsynced` bytes of the upload are not durable yet.
  case written(unsynced: UInt64)
  /// No bytes count, because another request took the upload over, or the upload accepts no bytes any more.
  case displaced
  /// There were more bytes than the declared length allows. The bytes that fit count.
  case tooLong
  /// There was not enough space. The bytes that fit count. The client may try again later.
  case full
  /// The disk failed. The bytes that were written before the failure count.
  case failed
}

/// The right to add bytes to an upload. Only the writer of the last takeover has it. Used on one loop.
package final class UploadWriter {
  package let upload: SpooledUpload
  private let loop: EventLoop
  private var displaced: (() -> Void)?
  /// The ``WritingRight/generation`` for which this writer was made.
  var generation: UInt64 = 0

  init(_ upload: SpooledUpload, on loop: EventLoop, displaced: @escaping () -> Void) {
    (self.upload, self.loop, self.displaced) = (upload, loop, displaced)
  }

  deinit { upload.release(generation) }

  /// Called when another request has taken over.
  func wasDisplaced() {
    let displaced = displaced
    self.displaced = nil
    displaced?()
  }

  /// The offset of the next byte.
  package var offset: UInt64 { upload.state.withLock { $0.end } }

  /// How many bytes the disk still has to write, including those that are being verified. While this number is large, a fast
  /// sender has to wait.
  package var unsynced: UInt64 {
    let isDurable = upload.core.isDurable
    return upload.state.withLock { $0.unsynced(isDurable: isDurable) }
  }

  /// Whether no other request has taken over. After a takeover on another loop this is `false` a moment before `displaced` runs.
  package var isCurrent: Bool { upload.state.withLock { [generation] in $0.hold.generation == generation } }

  /// How long the last write blocked its thread.
  package private(set) var took = Duration.zero

  /// Adds bytes to the upload at once, by a write into the page cache. Call this on the loop.
  package func write(_ bytes: UnsafeRawBufferPointer) -> UploadWriteResult {
    loop.preconditionOnLoop()
    let result: UploadWriteResult
    (result, took) = upload.perform(upload.plan(bytes.count, generation), bytes)
    return result
  }

  /// Adds bytes as ``write(_:)`` does, but in the pool; for a write that would block the loop. A takeover waits for this write.
  /// The caller must not write again before `then` has run.
  /// - Returns: `false` if the pool has stopped: nothing is written.
  package func writeInPool(_ bytes: [UInt8], then: @escaping (UploadWriteResult) -> Void) -> Bool {
    let upload = upload
    let plan = upload.plan(bytes.count, generation)
    let isQueued = upload.core.pool.run({ bytes.withUnsafeBytes { upload.perform(plan, $0) } }, then: loop) {
      [self] (result, took) in
      self.took = took
      then(result)
    }
    if !isQueued { upload.abandon(plan) }
    return isQueued
  }

  /// Begins a verification: bytes that are written from now on count only after ``accept()``. ``discard()``, ``detach()``, a
  /// takeover and a crash take back the bytes after the present offset. The caller must not write before `then` has run. `then`
  /// gets `false` if the beginning could not be recorded, or another request took over.
  package func beginVerified(then: @escaping (Bool) -> Void) {
    let reply = LoopReply(on: loop, then)
    let isBegun = upload.state.withLock { [generation] state in
      guard state.takesBytes, state.goBack == nil, state.hold.verifyingBegan(generation) else { return false }
      state.row.verifying = state.written
      state.touch()
      return true
    }
    guard isBegun else { return reply.send(false) }
    upload.core.record(upload, durably: false) { reply.send($0) }
  }

  /// Lets the verified bytes count; `false`: another request took over before that, and the bytes do not count.
  @discardableResult
  package func accept() -> Bool {
    let isAccepted = upload.state.withLock { [generation] state in
      guard state.hold.verified(generation) else { return false }
      state.row.verifying = nil
      state.written = state.end
      state.touch()
      return true
    }
    if isAccepted { upload.syncByItself() }
    return isAccepted
  }

  /// Takes back the bytes after `offset`, of which no client was told, and ends the writer. A sync of these bytes that is under way
  /// has no effect on the offset.
  package func goBack(to offset: UInt64) {
    upload.goBack(to: offset, generation)
    detach()
  }

  /// Takes back the bytes that are being verified, and ends the writer.
  package func discard() { detach() }

  /// Announces that this request completes the upload at `total` bytes. If pawl crashes after the last of these bytes was written,
  /// the next start completes the upload.
  package func expectEnd(at total: UInt64) {
    let isNew = upload.state.withLock { [generation] state in
      guard state.hold.generation == generation, state.takesBytes, state.row.finalAt != total else { return false }
      state.row.finalAt = total
      state.touch()
      return true
    }
    if isNew { upload.core.noteDirty(upload, soon: true) }
  }

  /// Takes back ``expectEnd(at:)``: this request does not complete the upload.
  package func expectNoEnd() {
    let isNew = upload.state.withLock { [generation] state in
      guard state.hold.generation == generation, state.row.finalAt != nil else { return false }
      state.row.finalAt = nil
      state.touch()
      return true
    }
    if isNew { upload.core.noteDirty(upload, soon: true) }
  }

  /// Ends the writer; `displaced` does not run.
  package func detach() {
    displaced = nil
    upload.release(generation)
  }
}

// MARK: - Writing, and what a full disk leaves of it

extension SpooledUpload {
  /// A planned write, which counts as under way, so a takeover waits for it. ``perform(_:_:)`` or ``abandon(_:)`` has to follow.
  enum PlannedWrite {
    case refuse(UploadWriteResult)
    /// Write `count` bytes at the offset. `less`: why this is only a part of the given bytes; `nil`: these are all of them.
    case write(UploadDescriptor, at: UInt64, count: Int, less: UploadWriteResult?)
  }

  /// Plans the write of `count` bytes by the writer of that generation. There is one planned write at a time.
  func plan(_ count: Int, _ generation: UInt64) -> PlannedWrite { state.withLock { plan(count, generation, &$0) } }

  /// Ends a planned write of which nothing is written.
  func abandon(_ plan: PlannedWrite) {
    if case .write(_, _, let count, _) = plan { _ = finish(0, of: UInt64(count), at: core.clock.now()) }
  }

  /// Writes as planned. May be called on any thread.
  /// - Returns: the result, and how long the write blocked the thread.
  func perform(_ plan: PlannedWrite, _ bytes: UnsafeRawBufferPointer) -> (UploadWriteResult, took: Duration) {
    switch plan {
    case .refuse(let result): return (result, .zero)
    case .write(let descriptor, let offset, let count, let less):
      var done = 0
      var failure: StoreError?
      let began = core.clock.now()
      do throws(StoreError) {
        try Files.write(descriptor.raw, UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: offset, &done)
      } catch {
        failure = error
      }
      withExtendedLifetime(descriptor) {}
      let now = core.clock.now()
      let took = now - began
      let result = finish(UInt64(done), of: UInt64(count), at: now)
      guard let failure else { return (less ?? result, took) }
      if failure == .full { return (.full, took) }
      core.events.log(.error, "upload-write-failed", ["upload": id.hex, "why": "\(failure)"])
      return (.failed, took)
    }
  }

  private func plan(_ count: Int, _ generation: UInt64, _ state: inout UploadState) -> PlannedWrite {
    guard state.hold.admits(generation), state.takesBytes, !core.isHandedOver else { return .refuse(.displaced) }
    guard let descriptor = state.descriptor, !state.hold.isBroken, state.goBack == nil else { return .refuse(.failed) }
    guard count > 0 else {
      return .refuse(.written(unsynced: state.unsynced(isDurable: core.isDurable)))
    }
    let room = min(state.row.length ?? .max, UInt64(Int64.max)) - state.end
    var (fitting, less) = (UInt64(count), UploadWriteResult?.none)
    if fitting > room { (fitting, less) = (room, .tooLong) }
    topUp(&state, need: fitting, room: room)
    if fitting > state.promise { (fitting, less) = (state.promise, .full) }
    if fitting == 0, let less { return .refuse(less) }
    guard state.hold.writeBegan() else {
      noteImpossible("write-began")
      return .refuse(.failed)
    }
    state.promise -= fitting
    return .write(descriptor, at: state.end, count: Int(fitting), less: less)
  }

  /// Reserves more space for the writer. If the upload is known to need at most ``UploadBudget/step`` more bytes, all of them are
  /// reserved, or none. Otherwise the beginnings of many uploads could fill the spool, with no space to complete any of them. For
  /// other uploads the promise (the reserved bytes) grows with the received bytes, so that one upload does not block the spool; the
  /// promise is renewed when half of it is used.
  private func topUp(_ state: inout UploadState, need: UInt64, room: UInt64) {
    if room <= UploadBudget.step {
      guard state.promise < room else { return }
      let missing = room - state.promise
      let granted = core.budget.promise(client, upTo: missing)
      if granted == missing { state.promise = room } else { core.budget.giveBack(client, granted) }
      return
    }
    let step = min(max(state.end, UploadBudget.leastStep), UploadBudget.step)
    guard state.promise < need || state.promise < min(room, step / 2) else { return }
    let wanted = max(need, min(room, step))
    if wanted > state.promise {
      state.promise += core.budget.promise(client, upTo: wanted - state.promise)
    }
  }

  private func finish(_ done: UInt64, of count: UInt64, at now: Monotonic) -> UploadWriteResult {
    // The charge has to grow before the file can be cut again.
    charge.grow(done)
    let isDurable = core.isDurable
    let (unsynced, wantsSync, isFirst, late, isFreed, end) = state.withLock { state in
      let isFirst = state.written == state.row.offset
      state.end += done
      if !state.hold.isVerifying && state.goBack == nil { state.written = state.end }
      let end = state.writeEnded()
      // `late`: reserved bytes that were not written. If the writer has ended meanwhile, they are not part of the promise given
      // back then.
      var late = count - done
      if !state.hold.isVacant { (state.promise, late) = (state.promise + late, 0) }
      if done > 0 {
        state.row.lastByteAt = core.clock.wallSeconds()
        (state.lastWrite, state.lastByte) = (now, now)
      }
      let unsynced = state.unsynced(isDurable: isDurable)
      let behind = state.hold.isVerifying ? unsynced : state.written - min(state.written, state.row.offset)
      return (unsynced, behind >= Self.syncEvery && !state.syncing.isRunning, isFirst, late, state.isFreed, end)
    }
    if end == .impossible { noteImpossible("write-ended") }
    if isFreed { core.budget.forget(client, done) }
    core.budget.giveBack(client, late)
    if isFirst { core.stir(self) }
    if wantsSync { syncBehindWriter() }
    // A takeover may wait for this write.
    settle()
    return .written(unsynced: unsynced)
  }

  /// The number of unsynced bytes at which a sync begins without a caller that asks for it.
  static let syncEvery: UInt64 = 4 << 20
}
