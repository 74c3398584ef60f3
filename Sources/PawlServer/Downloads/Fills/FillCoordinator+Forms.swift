import PawlCache
import PawlCacheStore
import PawlLoop

/// Of a coded form: its ``FormWriter`` in place of spans from an origin.
extension FillCoordinator {
  /// One begins to write the form; it holds the body as a span would.
  /// - Returns: `nil` where another one does already.
  static func beganWriting(_ writer: FormWriter, _ form: StoredResponse, on loop: EventLoop) -> FillCoordinator? {
    use(form) { coordinator in
      coordinator.state.withLock { state in
        guard state.writer == nil else { return nil }
        state.writer = (LoopWeak(writer, on: loop), false)
        return coordinator
      }
    }
  }

  /// Whether somebody writes it.
  static func isBeingWritten(_ form: StoredResponse) -> Bool {
    existing(form)?.state.withLock { $0.writer != nil } ?? false
  }

  /// It waits for who reads it, or does no more.
  func writerWaits(_ isHeld: Bool) { state.withLock { $0.writer?.isHeld = isHeld } }

  /// It is written, or not to be written any more: then whoever waits ends visibly.
  func endedWriting(_ failure: BodyEnd?) {
    state.withLock { state in
      state.writer = nil
      guard let failure else { return }
      state.failures += 1
      state.failure = failure
    }
    releaseIfIdle()
  }

  /// For a reader of a form that lacks bytes: nothing but its writer brings them. A form that is damaged is made anew.
  func needOfForm() -> Need {
    let (isWritten, failure) = state.withLock { ($0.writer != nil, $0.failure) }
    if isWritten { return .wait }
    if body.lostCount > 0 { body.fail(.disk("damaged, and made anew")) }
    return .fail(failure ?? BodyEnd(party: .pawl, reason: "coding-ended"))
  }
}
