import CLinux
import PawlDisk
package import PawlLoop

/// Who may write, and how that changes hands: no lock is held over a write. A takeover counts the generation up, which
/// ends the old writer at once, and goes on when the write under way and the pool's work on the file are done.
extension SpooledUpload {
  /// Ends whoever writes now: its `displaced` runs on its loop, its writes add nothing from this moment on. `then` runs
  /// once no write is under way, with the offset settled. When another takes over before that, `displaced` runs and
  /// `then` never does. Keep the writer: one that is let go of has detached, and is told nothing. On the loop.
  /// - Parameter readOnly: the new holder only looks: no room is promised.
  package func takeOver(
    on loop: EventLoop, readOnly: Bool = false, displaced: @escaping () -> Void,
    then: @escaping (UploadWriter) -> Void
  ) {
    loop.preconditionOnLoop()
    let writer = UploadWriter(self, on: loop, displaced: displaced)
    let reply = LoopReply<Bool>(on: loop) { [self] isGranted in
      // Another may have been faster after it was granted, too.
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

  /// The writer of that generation, if it still is, takes back what it has brought since.
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

  /// The writer of that generation, if it still is, ends.
  func release(_ generation: UInt64) {
    let ended = state.withLock { state -> UploadState.Displacement? in
      state.hold.released(generation).map { state.ended($0) }
    }
    guard let ended else { return }
    core.budget.giveBack(client, ended.promise)
    settle()
  }

  /// Does what has to come before somebody may write; asked again after each part of it.
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
    // At the end of the process: who waits is told when it writes.
    state.withLock { $0.hold.failed() }
    settled()
  }

  private func settled() {
    if !state.withLock({ $0.hold.settled() }) { noteImpossible("settled") }
    settle()
  }

  func noteImpossible(_ event: String) {
    core.events.log(.error, "upload-event-impossible", ["upload": id.hex, "event": event])
  }

  /// Closes the file that nobody reads or writes.
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

  /// As ``openFile()``; `nil`, logged, when it cannot be.
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

  /// The upload's file, open. There is one for all who read or write, and as long as one of them holds it, it is this
  /// upload's, whatever becomes of that. In the pool.
  func openFile() throws(StoreError) -> UploadDescriptor {
    if let known = state.withLock({ $0.descriptor }) { return known }
    let opened = UploadDescriptor(adopting: try Files.open(core.path(of: id), O_RDWR), core, charge)
    // So that it is closed again, whatever comes of it.
    core.stir(self)
    let chosen = state.withLock { state -> UploadDescriptor? in
      // What bore the name a moment ago may be another's by now.
      guard !state.isFreed else { return nil }
      if state.descriptor == nil { state.descriptor = opened }
      return state.descriptor
    }
    guard let chosen else { throw .dropped }
    return chosen
  }

  /// In the pool: what lies behind `size` never counted.
  private func truncate(to size: UInt64) {
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
