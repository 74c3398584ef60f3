import PawlCache
import PawlCacheStore
import PawlLoop

/// Coordinates a coded form, which has a ``FormWriter`` instead of fills from an origin.
extension FillCoordinator {
  /// Notes that a writer begins to write the form. Like a span, the writer keeps the body from eviction.
  /// - Returns: `nil` if the form already has a writer.
  static func beganWriting(_ writer: FormWriter, _ form: StoredResponse, on loop: EventLoop) -> FillCoordinator? {
    use(form) { coordinator in
      coordinator.state.withLock { state in
        guard state.writer == nil else { return nil }
        state.writer = (LoopWeak(writer, on: loop), false)
        return coordinator
      }
    }
  }

  /// Whether the form has a writer.
  static func isBeingWritten(_ form: StoredResponse) -> Bool {
    existing(form)?.state.withLock { $0.writer != nil } ?? false
  }

  /// Notes whether the writer waits for its readers.
  func writerWaits(_ isHeld: Bool) { state.withLock { $0.writer?.isHeld = isHeld } }

  /// Notes that the form is complete, or that writing has stopped. After a failure, the responses of waiting readers are cut off.
  func endedWriting(_ failure: BodyEnd?) {
    state.withLock { state in
      state.writer = nil
      guard let failure else { return }
      state.failures += 1
      state.failure = failure
    }
    releaseIfIdle()
  }

  /// Decides how a reader gets bytes of the form that it lacks: only the writer brings them. A damaged form fails, and is made anew later.
  func needOfForm() -> Need {
    let (isWritten, failure) = state.withLock { ($0.writer != nil, $0.failure) }
    if isWritten { return .wait }
    if body.lostCount > 0 { body.fail(.disk("damaged, and made anew")) }
    return .fail(failure ?? BodyEnd(party: .pawl, reason: "coding-ended"))
  }
}
