package import PawlHTTP
package import PawlLoop
package import PawlUpload

/// One upload in the spool. Any thread; completions run on the loop that was given, never within the call.
package final class SpooledUpload: Sendable {
  package let id: UploadID
  package let origin: UploadOrigin

  init(_ id: UploadID, _ origin: UploadOrigin) { (self.id, self.origin) = (id, origin) }

  package var status: UploadStatus { UploadStatus(offset: 0) }

  /// `change` runs on `loop` after each change of phase, durable offset or last refusal until the observation is let
  /// go of, on that loop. Changes are joined: look at ``status``. On the loop.
  package func observe(on loop: EventLoop, _ change: @escaping () -> Void) -> UploadObservation { UploadObservation() }

  /// Ends whoever writes now: its `displaced` runs on its loop, its writes add nothing from this moment on. `then` runs
  /// once no write is under way, with the offset settled. When another takes over before that, `displaced` runs and
  /// `then` never does. On the loop.
  /// - Parameter readOnly: the new holder only looks: no room is promised.
  package func takeOver(
    on loop: EventLoop, readOnly: Bool = false, displaced: @escaping () -> Void,
    then: @escaping (UploadWriter) -> Void
  ) { loop.nextTurn { then(UploadWriter()) } }

  /// Makes everything written so far durable; the offset may be told then.
  package func sync(on loop: EventLoop, then: @escaping (Result<UInt64, StoreError>) -> Void) {
    loop.nextTurn { then(.failure(.full)) }
  }

  /// The whole length, once or the same again; `false`: it contradicts what is known.
  package func declare(length: UInt64) -> Bool { false }

  /// open → complete. All written bytes are synced first; they have to be as many as the length says.
  package func complete(on loop: EventLoop, then: @escaping (Bool) -> Void) { loop.nextTurn { then(false) } }
  /// complete → forwarding, in memory: `true` for exactly one caller.
  package func beginForward() -> Bool { false }
  /// forwarding → sent.
  package func journalSent(on loop: EventLoop, then: @escaping (Bool) -> Void) { loop.nextTurn { then(false) } }
  /// forwarding → complete; the attempt is counted and kept for show.
  /// - Parameter nextAt: when it is tried again; wall seconds.
  package func noteAttempt(failed why: String, nextAt: Int64?) {}
  /// forwarding, sent → answered; the bytes are freed.
  package func answer(_ answer: UploadAnswer, on loop: EventLoop, then: @escaping (Bool) -> Void) {
    loop.nextTurn { then(false) }
  }
  /// sent → unknown.
  package func becomeUnknown(why: String, on loop: EventLoop, then: @escaping (Bool) -> Void) {
    loop.nextTurn { then(false) }
  }
  /// unknown → complete.
  package func sendAgain(on loop: EventLoop, then: @escaping (Bool) -> Void) { loop.nextTurn { then(false) } }
  /// open, complete → invalid; the bytes are freed.
  package func invalidate(why: String, on loop: EventLoop, then: @escaping (Bool) -> Void) {
    loop.nextTurn { then(false) }
  }
  /// → removed; the bytes are freed. Not while it is forwarded or sent.
  package func remove(on loop: EventLoop, then: @escaping (Bool) -> Void) { loop.nextTurn { then(false) } }

  /// `Authorization` and `Cookie` of the latest request of the same owner.
  package func refreshCredentials(_ fields: Fields) {}
  package var credentials: Fields? { nil }
  package func noteAnswerDelivered() {}
  /// The origin's answer. One that is not in memory any more is read from the catalogue here.
  package var answer: UploadAnswer? { nil }
  /// The answer to the last attempt, where it did not consume the upload; telling it wakes the observers.
  package var lastRefusal: UploadLastRefusal? {
    get { nil }
    set {}
  }
  /// When a completed upload that cannot be delivered is dropped; wall seconds.
  package var giveUpAt: Int64? {
    get { nil }
    set {}
  }

  /// Opens the bytes for sending.
  package func openBody(on loop: EventLoop, then: @escaping (Result<UploadBody, StoreError>) -> Void) {
    loop.nextTurn { then(.failure(.full)) }
  }

  package var attempts: Int { 0 }
  package var lastError: String? { nil }
  /// Wall seconds.
  package var nextAttempt: Int64? { nil }
}

/// Lets an observer look away when it is let go of. Of one loop.
package final class UploadObservation {
  init() {}
  /// Nothing is told any more.
  package func cancel() {}
}

/// The bytes of a completed upload; the file stays open while this lives.
package struct UploadBody: Sendable {
  package let fd: CInt
  /// Bytes.
  package let count: UInt64
  /// What keeps the file open.
  package let owner: any AnyObject & Sendable

  package init(fd: CInt, count: UInt64, owner: any AnyObject & Sendable) {
    (self.fd, self.count, self.owner) = (fd, count, owner)
  }
}
