import PawlUpload

/// Records the steps of uploads whose deliveries go on in this process, although another process has their spool.
package protocol UploadLender: AnyObject, Sendable {
  /// Has the step recorded by the process that has the spool.
  /// - Parameter then: called once, on any thread, with whether the step is durably recorded. `false` also if that process has ended.
  func record(_ step: LentStep, then: @escaping @Sendable (Bool) -> Void)
  /// Notes that a client has got the answer of this upload.
  func noteDelivered(_ id: UploadID)
}

/// An upload whose delivery goes on in the process before this one, which has sent the request and gets the response. The old process
/// reads the file of the upload, so this one neither cuts nor reuses it. It records each step that the old process reports.
extension SpooledUpload {
  /// Whether another process delivers the upload.
  package var isLent: Bool { state.withLock { $0.isLent } }

  /// Whether the spool of this object belongs to another process, or is open anew in this one. No delivery begins with this object.
  package var isHandedOver: Bool { core.isHandedOver }

  /// Notes, when the spool is opened, that another process delivers the upload.
  func beginLoan() {
    let step = state.withLock { state -> UploadStep in
      state.isLent = true
      // The other process has it open, so it is never used for another upload.
      state.file.wasReopened()
      return state.row.phase == .complete ? state.row.take(.attemptBegan) : .refused
    }
    core.note(.attemptBegan, of: id, step)
  }

  /// Records a step that the other process has taken.
  /// - Parameter then: called once, on any thread, with whether the step is durably recorded.
  package func take(_ step: LentStep, then: @escaping @Sendable (Bool) -> Void) {
    guard isLent, LentStep.events.contains(step.event) else { return then(false) }
    begin(
      UploadTransition(
        step.event, answer: step.answer, refusal: step.refusal, why: step.why, apply: { step.apply(to: &$0) },
        then: then))
  }

  /// Ends the loan, because the other process has ended or does not deliver the upload any more. The caller decides what becomes of
  /// the upload.
  /// - Returns: whether the upload was lent until now.
  package func endLoan() -> Bool {
    state.withLock { state in
      defer { state.isLent = false }
      return state.isLent
    }
  }
}
