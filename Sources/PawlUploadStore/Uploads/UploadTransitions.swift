import PawlDisk
package import PawlLoop
import PawlUpload

/// The changes of phase of an upload. Each change is recorded durably before its caller is told, unless its comment says otherwise.
/// If a change cannot be recorded, the phase stays as it was.
extension SpooledUpload {
  /// open → complete. All written bytes are synced first; their number must equal the declared length.
  package func complete(on loop: EventLoop, then: @escaping (Bool) -> Void) {
    begin(.completed, on: loop, then: then)
  }

  /// complete → forwarding, in memory only. Returns `true` to exactly one caller; always `false` for a part of a concatenation.
  package func beginForward() -> Bool {
    guard concatenation != .partial else { return false }
    let step = state.withLock { state in
      state.transition == nil && state.making == .made ? state.row.take(.attemptBegan) : .refused
    }
    core.note(.attemptBegan, of: id, step)
    guard case .to = step else { return false }
    notify()
    return true
  }

  /// forwarding → sent.
  /// - Parameter answer: a response that came before the origin had the complete request. It does not count until the origin has
  ///   the complete request.
  package func journalSent(
    early answer: UploadAnswer? = nil, on loop: EventLoop, then: @escaping (Bool) -> Void
  ) {
    begin(.requestSent, on: loop, answer: answer, then: then) { row in
      row.originStatus = answer.map { Int64($0.status) }
    }
  }

  /// forwarding, sent → complete: the origin does not have the upload, or is allowed to get it twice. This counts the failed
  /// attempt, and keeps the reason for the operator. The change is recorded later; after a crash before that, a sent upload has
  /// the phase `sent` again. If another change of phase is being recorded, this change waits for it.
  /// - Parameter nextAt: when the next attempt is made; wall clock, seconds since 1970.
  package func noteAttempt(failed why: String, nextAt: Int64?) {
    let isWaiting = state.withLock { state in
      guard case .to = state.transition?.step(from: state.row.phase) else { return false }
      state.queue.append(
        UploadTransition(.attemptFailed, apply: { $0.noteAttempt(failed: why, nextAt: nextAt) }, then: { _ in }))
      return true
    }
    guard !isWaiting else { return }
    var noted: UploadRow?
    change { row in
      let step = row.take(.attemptFailed)
      core.note(.attemptFailed, of: id, step)
      guard case .to = step else { return false }
      row.noteAttempt(failed: why, nextAt: nextAt)
      noted = row
      return true
    }
    if let noted { core.lender?.record(LentStep(id, .attemptFailed, noted, refusal: lastRefusal)) { _ in } }
    notify()
  }

  /// sent → complete: the origin does not have the upload. This counts the failed attempt, and keeps the reason for the operator.
  /// - Parameters:
  ///   - nextAt: when the next attempt is made; wall clock, seconds since 1970.
  ///   - refusal: the origin's response, set together with the phase (``SpooledUpload/lastRefusal``).
  package func comeBack(
    failed why: String, nextAt: Int64?, refusal: UploadLastRefusal? = nil, on loop: EventLoop,
    then: @escaping (Bool) -> Void
  ) {
    begin(.cameBack, on: loop, refusal: refusal, then: then) { $0.noteAttempt(failed: why, nextAt: nextAt) }
  }

  /// forwarding, sent → answered; the bytes are freed.
  /// - Parameter askers: ``SpooledUpload/askers``.
  package func answer(
    _ answer: UploadAnswer, for askers: [[UInt8]] = [], on loop: EventLoop, then: @escaping (Bool) -> Void
  ) {
    begin(.answered, on: loop, answer: answer, then: then) { row in
      row.answerUntil = answer.at + answer.keepFor.components.seconds
      row.originStatus = Int64(answer.status)
      row.nextAttempt = nil
      row.giveUpAt = nil
      // The credentials themselves are not needed any more.
      row.credentials = Self.serialize(askers: askers)
    }
  }

  /// forwarding, sent → unknown.
  /// - Parameter answer: a response that does not count, kept for the operator.
  package func becomeUnknown(
    why: String, answer: UploadAnswer? = nil, on loop: EventLoop, then: @escaping (Bool) -> Void
  ) {
    begin(.outcomeLost, on: loop, answer: answer, why: why, then: then) { row in
      row.lastError = why
      if let answer { row.originStatus = Int64(answer.status) }
    }
  }

  /// open, complete → invalid; the bytes are freed.
  package func invalidate(why: String, on loop: EventLoop, then: @escaping (Bool) -> Void) {
    begin(.invalidated, on: loop, why: why, then: then) { $0.lastError = why }
  }

  /// any phase except forwarding and sent → removed; the bytes are freed.
  package func remove(on loop: EventLoop, then: @escaping (Bool) -> Void) {
    begin(.removed, on: loop, then: then)
  }

  /// Removes the upload; no caller waits for the result. With `phase`, only if the upload still has that phase.
  func remove(_ event: UploadEvent, while phase: UploadPhase? = nil, why: String) {
    begin(UploadTransition(event, while: phase, why: why, then: { _ in }))
  }

  private func begin(
    _ event: UploadEvent, on loop: EventLoop, answer: UploadAnswer? = nil, refusal: UploadLastRefusal? = nil,
    why: String? = nil, then: @escaping (Bool) -> Void,
    apply: @escaping @Sendable (inout UploadRow) -> Void = { _ in }
  ) {
    let reply = LoopReply(on: loop, then)
    begin(
      UploadTransition(event, answer: answer, refusal: refusal, why: why, apply: apply, then: { reply.send($0) }))
  }

  // MARK: One at a time

  func begin(_ transition: UploadTransition) {
    let isNext = state.withLock { state in
      guard state.transition == nil else {
        state.queue.append(transition)
        return false
      }
      state.transition = transition
      return true
    }
    if isNext { start(transition) }
  }

  private func start(_ transition: UploadTransition) {
    enum Check { case refused(UploadStep), record(UploadState.Displacement?) }
    let check = state.withLock { state -> Check in
      let step = transition.step(from: state.row.phase)
      guard case .to = step else { return .refused(step) }
      if transition.needsAllBytes { return hasAllBytes(state) ? .record(nil) : .refused(.refused) }
      return .record(state.row.phase == .open ? state.endHolder() : nil)
    }
    guard case .record(let ended) = check else {
      if case .refused(let step) = check { core.note(transition.event, of: id, step) }
      return end(transition, false)
    }
    if let ended { tell(ended) }
    guard transition.needsAllBytes else { return record(transition) }
    syncBytes { [self] error in
      if error == nil { record(transition) } else { end(transition, false) }
    }
  }

  private func hasAllBytes(_ state: UploadState) -> Bool {
    !state.hold.isVerifying && state.hold.work != .writing && state.goBack == nil && state.end == state.written
      && (state.row.length ?? state.written) == state.written
  }

  private func record(_ transition: UploadTransition) {
    let isReady = state.withLock { state in
      if transition.needsAllBytes {
        guard hasAllBytes(state), state.row.offset == state.written else { return false }
        let length = state.written
        state.transition?.apply = { row in
          row.length = length
          row.finalAt = nil
        }
      }
      state.transition?.isRecording = true
      state.touch()
      return true
    }
    guard isReady else { return end(transition, false) }
    if let lender = core.lender { return lender.record(lentStep(transition)) { [self] in end(transition, $0) } }
    core.record(self) { [self] isRecorded in
      noteRecorded(isRecorded, durably: true)
      end(transition, isRecorded)
    }
  }

  /// Returns the transition for the process that has the spool.
  private func lentStep(_ transition: UploadTransition) -> LentStep {
    let (before, refusal) = state.withLock { ($0.row, $0.lastRefusal) }
    var row = before
    transition.apply(&row)
    return LentStep(
      id, transition.event, row, answer: transition.answer, refusal: transition.refusal ?? refusal, why: transition.why)
  }

  private func end(_ transition: UploadTransition, _ isDone: Bool) {
    let (before, step, next, wasRecording) = state.withLock { state in
      let (before, current) = (state.row.phase, state.transition)
      var step = UploadStep.refused
      state.transition = nil
      if isDone {
        current?.apply(&state.row)
        step = state.row.take(transition.event)
        state.row.changedAt = core.clock.wallSeconds()
        state.lastChange = core.clock.now()
        let phase = state.row.phase
        if phase == .answered { state.notBefore = core.dueTime(state.row.answerUntil ?? 0) }
        if phase == .removed { state.row.credentials = nil }
        if phase != .forwarding && phase != .sent { state.isLent = false }
        state.lastRefusal = transition.refusal ?? state.lastRefusal
        state.answer = phase == .answered ? transition.answer ?? state.answer : nil
      } else if current?.isRecording == true {
        state.touch()
      }
      let next = state.queue.isEmpty ? nil : state.queue.removeFirst()
      state.transition = next
      return (before, step, next, current?.isRecording == true)
    }
    if case .to(let phase) = step {
      entered(phase, by: transition, from: before)
    } else if wasRecording {
      // The catalogue may repeat the failed commit later, so the present row is recorded after it.
      core.noteDirty(self, soon: true)
    }
    transition.then(isDone)
    if isDone { notify() }
    if let next { start(next) } else { settle() }
  }

  /// Frees what is not needed any more after a change of phase.
  private func entered(_ phase: UploadPhase, by transition: UploadTransition, from before: UploadPhase) {
    if before == .open { count(as: .none) }
    switch phase {
    case .answered:
      free()
      wasAnswered(transition.answer)
    case .invalid:
      free()
      slim()
      recount()
    case .removed:
      free()
      forgetRecord()
      let time = state.withLock { $0.row.changedAt }
      core.bury(id, at: time)
      core.remove(self)
      core.submit([.strip(id)])
    case .open, .complete, .forwarding, .sent, .unknown: break
    }
    log(phase, transition.why, from: before)
  }

  private func log(_ phase: UploadPhase, _ why: String?, from before: UploadPhase) {
    // The process that records the phase logs it.
    guard core.lender == nil else { return }
    switch (phase, why) {
    case (.removed, let why?): core.events.log(.notice, "upload-expired", ["upload": id.hex, "why": why])
    case (.removed, nil): core.events.log(.info, "upload-removed", ["upload": id.hex])
    case (.invalid, let why): core.events.log(.warning, "upload-invalid", ["upload": id.hex, "why": why ?? ""])
    case (.unknown, let why): core.events.log(.error, "upload-unknown", ["upload": id.hex, "why": why ?? ""])
    case (.complete, _):
      guard before == .open else { break }
      core.events.log(.info, "upload-completed", ["upload": id.hex, "length": "\(status.length ?? 0)"])
    case (.open, _), (.forwarding, _), (.sent, _), (.answered, _): break
    }
  }

  /// Charges the answer to the client, and frees the parts that the upload was made of.
  private func wasAnswered(_ answer: UploadAnswer?) {
    for part in origin.parts { core.find(part)?.wasUsed() }
    slim()
    let size = answer.map(UploadRecord.size(of:)) ?? 0
    state.withLock { $0.answerSize = size }
    recount()
  }

  /// Removes the file. Its bytes are given back to the budget at once, so that a client that is told of the end can use the space.
  /// The file system frees the blocks when the file is not open any more.
  func free() {
    let freed = state.withLock { state -> (UInt64, DiskCharge, UploadDescriptor?, Bool)? in
      guard let isReusable = state.file.wasFreed() else { return nil }
      let descriptor = state.descriptor
      state.descriptor = nil
      state.goBack = nil
      // Bytes that a write under way still adds are given back with this new charge.
      let (bytes, charge) = (state.end, state.charge)
      state.charge = DiskCharge(core.budget.disk, bytes: 0)
      state.charge.drop()
      return (bytes, charge, descriptor, isReusable)
    }
    guard let (bytes, charge, descriptor, isReusable) = freed else { return }
    core.budget.forget(client, bytes)
    charge.release()
    // Bytes that a write under way still adds are given back with this charge.
    charge.drop()
    guard !core.isHandedOver else { return }
    if let descriptor, isReusable { return descriptor.retire(id) }
    core.perform { [core, id, charge] in
      UploadFile.unlink(core.path(of: id), core.events)
      withExtendedLifetime((charge, descriptor)) {}
    }
  }
}
