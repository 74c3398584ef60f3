import PawlHTTP
import PawlLoop

/// The end of a request that may be sent once only: what makes it whole, and what of it an answer finds unsent.
extension OriginExchange {
  /// Whether it has no place yet, nor is one on its way.
  package var isWaitingForPlace: Bool {
    switch phase {
    case .starting, .entering, .queued: true
    case .granted, .dialling, .connected, .upgraded, .ended: false
    }
  }

  /// What is handed in from now on makes the request whole: as long as nothing of that has left, the origin has none.
  package func markHeldBack() { heldBackAt = output.sentOnConnection }

  /// Whether nothing has left of what was handed in since ``markHeldBack()``. What TLS keeps is a part of its last record,
  /// which nobody can read without the rest. Only while the exchange has its connection.
  package var lacksHeldBack: Bool {
    guard let heldBackAt else { return true }
    return output.sentOnConnection <= heldBackAt || stream.map { $0.bytesKept > 0 } ?? false
  }

  /// Whether the rest of the request goes on though the answer has begun (``OriginRequest/outlivesAnswer``).
  package var stillSends: Bool { response.letsRequestEnd && !output.isSent && !output.isStopped }

  /// Whether all of the answer is here, and the exchange goes on for the request's sake.
  package var hasWholeAnswer: Bool { response.isWhole }

  /// Takes what has come and was not announced yet: an answer, or the end of the connection. The delegate may hear of it
  /// from within.
  package func readNow() { streamReadable() }

  // MARK: An answer before the end of the request

  /// Nothing is read any more: what the answer was given to still has to go.
  func awaitRequest() {
    guard let stream else { return }
    stream.stopReading()
    guard !output.isStopped else { return refusedRest() }
    updatePatience(hasProgress: true)
    delegate?.exchangeAnswered(self)
  }

  /// After each write: whether what ``awaitRequest()`` waits for has come, or never will. In a later turn, since who sends
  /// is not told from within.
  func judgeRest() {
    guard response.isWhole, output.isSent || output.isStopped else { return }
    loop.nextTurn { [self] in
      guard !isOver else { return }
      guard output.isSent else { return refusedRest() }
      release(reusable: false)?.exchangeEnded(self, trailers: response.decoder.trailers)
    }
  }

  private func refusedRest() {
    fail(ProxyError(.connectionTerminated, details: "answered, and closed before it had the whole request"))
  }
}
