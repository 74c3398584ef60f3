/// What became of bytes that were to be added.
package enum UploadWriteResult: Hashable, Sendable {
  /// All of them count; so many bytes of the upload are not synced yet.
  case written(unsynced: UInt64)
  /// Somebody else took the upload over, or it takes no bytes any more.
  case displaced
  /// More than the length says: those that fit count.
  case tooLong
  /// No room: those that fit count. Worth another try later.
  case full
  /// The disk failed; none counts.
  case failed
}

/// The right to add to an upload, of whoever took it over last. Of one loop.
package final class UploadWriter {
  init() {}

  /// Where the next byte goes.
  package var offset: UInt64 { 0 }

  /// Adds bytes to the page cache, at once.
  package func write(_ bytes: UnsafeRawBufferPointer) -> UploadWriteResult { .failed }

  /// What follows counts only after ``accept()``; ``discard()``, ``detach()``, a takeover and a crash go back to the
  /// present offset. Write nothing before `then` ran; `false`: it could not be recorded.
  package func beginVerified(then: @escaping (Bool) -> Void) {}
  package func accept() {}
  /// Goes back, and ends the writer.
  package func discard() {}

  /// This request completes the upload when so many bytes are there: a crash after the last of them completes it.
  package func expectEnd(at total: UInt64) {}

  /// Writes no more; `displaced` does not run.
  package func detach() {}
}
