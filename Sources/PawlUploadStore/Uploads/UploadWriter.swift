import PawlDisk
import PawlLoop

/// What became of bytes that were to be added.
package enum UploadWriteResult: Hashable, Sendable {
  /// All of them count; so many bytes of the upload are not durable yet.
  case written(unsynced: UInt64)
  /// Somebody else took the upload over, or it takes no bytes any more.
  case displaced
  /// More than the length says: those that fit count.
  case tooLong
  /// No room: those that fit count. Worth another try later.
  case full
  /// The disk failed: those that were written before count.
  case failed
}

/// The right to add to an upload, of whoever took it over last. Of one loop.
package final class UploadWriter {
  package let upload: SpooledUpload
  private let loop: EventLoop
  private var displaced: (() -> Void)?
  /// ``WritingRight/generation`` for which this writer was made.
  var generation: UInt64 = 0

  init(_ upload: SpooledUpload, on loop: EventLoop, displaced: @escaping () -> Void) {
    (self.upload, self.loop, self.displaced) = (upload, loop, displaced)
  }

  deinit { upload.release(generation) }

  /// Another took over.
  func wasDisplaced() {
    let displaced = displaced
    self.displaced = nil
    displaced?()
  }

  /// Where the next byte goes.
  package var offset: UInt64 { upload.state.withLock { $0.end } }

  /// Bytes that the disk has still to write, those that are verified, too: who brings many waits until they are fewer.
  package var unsynced: UInt64 {
    let isDurable = upload.core.settings.isDurable
    return upload.state.withLock { $0.unsynced(isDurable: isDurable) }
  }

  /// Whether nobody took over since; of what is told on another loop, `displaced` runs a moment later.
  package var isCurrent: Bool { upload.state.withLock { [generation] in $0.hold.generation == generation } }

  /// How long the system kept the thread for the last write.
  package private(set) var took = Duration.zero

  /// Adds bytes to the page cache, at once.
  package func write(_ bytes: UnsafeRawBufferPointer) -> UploadWriteResult {
    loop.preconditionOnLoop()
    let result: UploadWriteResult
    (result, took) = upload.perform(upload.plan(bytes.count, generation), bytes)
    return result
  }

  /// As ``write(_:)``, in the pool: where the system would hold up the loop for it. Who takes over from now on waits for
  /// it. Write nothing more before `then` ran.
  /// - Returns: `false` when the pool has stopped: nothing is written.
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

  /// What follows counts only after ``accept()``; ``discard()``, ``detach()``, a takeover and a crash go back to the
  /// present offset. Write nothing before `then` ran; `false`: it could not be recorded, or another took over.
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

  /// What was verified counts; `false`: another took over before, and nothing of it does.
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

  /// What came since `offset` was never told of and does not count: goes back there, and ends the writer. Nothing of what
  /// the disk still does with those bytes counts later.
  package func goBack(to offset: UInt64) {
    upload.goBack(to: offset, generation)
    detach()
  }

  /// Goes back, and ends the writer.
  package func discard() { detach() }

  /// This request completes the upload when so many bytes are there: a crash after the last of them completes it.
  package func expectEnd(at total: UInt64) {
    let isNew = upload.state.withLock { [generation] state in
      guard state.hold.generation == generation, state.takesBytes, state.row.finalAt != total else { return false }
      state.row.finalAt = total
      state.touch()
      return true
    }
    if isNew { upload.core.noteDirty(upload, soon: true) }
  }

  /// This request completes nothing after all, whatever it has brought.
  package func expectNoEnd() {
    let isNew = upload.state.withLock { [generation] state in
      guard state.hold.generation == generation, state.row.finalAt != nil else { return false }
      state.row.finalAt = nil
      state.touch()
      return true
    }
    if isNew { upload.core.noteDirty(upload, soon: true) }
  }

  /// Writes no more; `displaced` does not run.
  package func detach() {
    displaced = nil
    upload.release(generation)
  }
}
