import PawlHTTP
import PawlLoop

/// Functions for requests that must not be retried: whether their last bytes have left pawl, and how the exchange ends if the
/// response is complete before the request.
extension OriginExchange {
  /// Whether the exchange still waits for a place, and none is granted yet.
  package var isWaitingForPlace: Bool {
    switch phase {
    case .starting, .entering, .queued: true
    case .granted, .dialling, .connected, .upgraded, .ended: false
    }
  }

  /// Marks where the last part of the request begins. Without the bytes that are handed in from now on, the request is incomplete.
  /// While none of these bytes has left pawl (``lacksHeldBack``), the origin cannot have a complete request. Call this when all
  /// earlier bytes are flushed.
  package func markHeldBack() { heldBackAt = output.sentOnConnection }

  /// Whether the origin has none of the bytes handed in since ``markHeldBack()``; `true` if the function was never called. A TLS
  /// record that the kernel has taken only in part counts as not sent, because the origin cannot decrypt it. Valid only while there
  /// is a connection.
  package var lacksHeldBack: Bool {
    guard let heldBackAt else { return true }
    return output.sentOnConnection <= heldBackAt || stream.map { $0.bytesKept > 0 } ?? false
  }

  /// Whether the request is still being sent although the response has begun (``OriginRequest/outlivesAnswer``).
  package var stillSends: Bool { response.letsRequestEnd && !output.isSent && !output.isStopped }

  /// Whether the response is complete, and the exchange goes on only to send the request to its end.
  package var hasWholeAnswer: Bool { response.isWhole }

  /// Reads at once what the socket already has: a response, or the end of the connection. The delegate may be called before this
  /// returns.
  package func readNow() { streamReadable() }

  // MARK: A response before the end of the request

  /// Goes on sending the request although the response is complete; stops reading, and tells the delegate. The exchange fails if
  /// sending has stopped.
  func awaitRequest() {
    guard let stream else { return }
    stream.stopReading()
    guard !output.isStopped else { return refusedRest() }
    updatePatience(hasProgress: true)
    delegate?.exchangeAnswered(self)
  }

  /// Called after each write. Ends the exchange when the response is complete (``awaitRequest()``) and the request is sent, or
  /// cannot be sent any more. Does so in a later turn of the event loop, so that the delegate is not called from within its own
  /// `sendBody`.
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
