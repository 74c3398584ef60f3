import CLinux
import PawlDisk
package import PawlLoop

/// The right to write, and how a newer request takes it over. No lock is held during a write. So a takeover increments the
/// generation, which ends the old writer at once. The takeover goes on when the write under way and the pool's work on the file
/// have ended.
extension SpooledUpload {
  /// Takes over the right to write. The present writer adds nothing from this moment on, and its `displaced` runs on its loop.
  /// `then` runs when no write is under way, and the offset does not change any more. If another takeover comes before that,
  /// `displaced` runs instead of `then`. The caller has to retain the writer: a released writer is detached, and its `displaced`
  /// does not run. Call this on the loop.
  /// - Parameter readOnly: the new holder only reads the state, and adds no bytes.
  package func takeOver(
    on loop: EventLoop, readOnly: Bool = false, displaced: @escaping () -> Void,
    then: @escaping (UploadWriter) -> Void
  ) {
    loop.preconditionOnLoop()
    let writer = UploadWriter(self, on: loop, displaced: displaced)
    let reply = LoopReply<Bool>(on: loop) { [self] isGranted in
      // Another takeover may have come even after the grant.
      let isCurrent = isGranted && state.withLock { $0.hold.generation == writer.generation }
      if isCurrent { then(writer) } else { writer.wasDisplaced() }
    }
    let hold = PendingHold(writer: LoopWeak(writer, on: loop), isReadOnly: readOnly, reply: reply)
    let (ended, superseded) = state.withLock { state in
      let (ended, superseded) = state.hold.takenOver(by: hold)
      writer.generation = state.hold.generation
      return (state.ended(ended), superseded)
    }
    superseded?.reply.send(false)
    tell(ended)
    settle()
  }

  /// Takes back the bytes after `offset`, if the writer of that generation still has the right to write.
  func goBack(to offset: UInt64, _ generation: UInt64) {
    let isMine = state.withLock { state in
      guard state.hold.generation == generation, !state.hold.isVacant, state.takesBytes else { return false }
      state.goBack(to: offset)
      return true
    }
    if isMine { core.noteDirty(self, soon: true) }
  }

  func tell(_ ended: UploadState.Displacement) {
    core.budget.giveBack(client, ended.promise)
    ended.holder?.run { $0.wasDisplaced() }
  }

  /// Ends the writer of that generation, if it still has the right to write or waits for it.
  func release(_ generation: UInt64) {
    let ended = state.withLock { state -> UploadState.Displacement? in
      state.hold.released(generation).map { state.ended($0) }
    }
    guard let ended else { return }
    core.budget.giveBack(client, ended.promise)
    settle()
  }

  /// Does what has to be done before the next write: grants the right, cuts the file, or opens it. Called again when one of these
  /// steps is done.
  func settle() {
    while true {
      switch state.withLock({ nextStep(&$0) }) {
      case .none: return
      case .grant(let hold): return hold.reply.send(true)
      case .cut(let size): return inPool { $0.truncate(to: size) }
      case .open: return inPool { _ = $0.openForWriting() }
      }
    }
  }

  private func nextStep(_ state: inout UploadState) -> WritingRight<PendingHold>.Step {
    let step = state.hold.nextStep(
      .init(
        cut: state.goBack, isFreed: state.isFreed, isOpen: state.descriptor != nil,
        phase: state.transition != nil ? .changing : state.takesBytes ? .takesBytes : .over))
    if case .grant = step { state.lastWrite = core.clock.now() }
    return step
  }

  private func inPool(_ work: @escaping @Sendable (SpooledUpload) -> Void) {
    let isQueued = core.pool.run { [self] in
      work(self)
      settled()
    }
    guard !isQueued else { return }
    // The pool has stopped, because the process ends. A waiting writer fails when it writes.
    state.withLock { $0.hold.failed() }
    settled()
  }

  private func settled() {
    if !state.withLock({ $0.hold.settled() }) { noteImpossible("settled") }
    settle()
  }

  func noteImpossible(_ event: String) {
    core.events.log(.error, "upload-internal-error", ["upload": id.hex, "event": event])
  }

  /// Closes the file if it is neither read nor written.
  func closeIfIdle() {
    let (closed, isHeld) = state.withLock { state -> (UploadDescriptor?, Bool) in
      guard state.isCalm else { return (nil, false) }
      guard state.isFileIdle else { return (nil, true) }
      defer { state.descriptor = nil }
      return (state.descriptor, false)
    }
    if isHeld { core.stir(self) }
    withExtendedLifetime(closed) {}
  }

  /// Returns ``openFile()``; `nil`: opening the file failed, which is logged, or the upload needs no file any more.
  func openForWriting() -> UploadDescriptor? {
    do throws(StoreError) {
      return try openFile()
    } catch {
      guard !state.withLock({ $0.isFreed }) else { return nil }
      core.events.log(.error, "upload-open-failed", ["upload": id.hex, "why": "\(error)"])
      state.withLock { $0.hold.failed() }
      return nil
    }
  }

  /// Returns the open file of the upload. All readers and writers share one descriptor; while it is retained, the file belongs to
  /// this upload, even after the upload is removed. Call this in the pool.
  func openFile() throws(StoreError) -> UploadDescriptor {
    if let known = state.withLock({ $0.descriptor }) { return known }
    let opened = UploadDescriptor(adopting: try Files.open(core.path(of: id), O_RDWR), core, charge)
    // From now on the regular work includes this upload, so that its file is always closed again.
    core.stir(self)
    let chosen = state.withLock { state -> UploadDescriptor? in
      // The file that had this name may belong to another upload by now.
      guard !state.isFreed else { return nil }
      if state.descriptor == nil { state.descriptor = opened }
      return state.descriptor
    }
    guard let chosen else { throw .dropped }
    return chosen
  }

  /// Cuts the file at `size` bytes; the bytes after that do not count. Called in the pool.
  private func truncate(to size: UInt64) {
    guard !core.isHandedOver else { return state.withLock { $0.hold.failed() } }
    guard let descriptor = state.withLock({ $0.descriptor }) ?? openForWriting() else { return }
    let isCut = withExtendedLifetime(descriptor) { ftruncate(descriptor.raw, off_t(clamping: size)) == 0 }
    guard isCut else {
      let error = Files.failure("ftruncate", core.path(of: id))
      core.events.log(.error, "upload-cut-failed", ["upload": id.hex, "why": "\(error)"])
      return state.withLock { $0.hold.failed() }
    }
    let freed = state.withLock { state -> UInt64 in
      let freed = state.end - min(size, state.end)
      state.end = size
      state.written = min(state.written, size)
      state.syncedEnd = min(state.syncedEnd, size)
      state.row.offset = min(state.row.offset, size)
      state.row.verifying = nil
      state.goBack = nil
      state.touch()
      return freed
    }
    charge.shrink(freed)
    core.budget.forget(client, freed)
    core.noteDirty(self)
  }
}
