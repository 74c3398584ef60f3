import PawlLoop

/// A client that has sent FIN. It may have shut down only its sending side, and is then still answered (RFC 9112 §9.6). It may as well
/// have closed its connection: both look alike until its system refuses the answer with a reset.
extension HTTP1Connection {
  /// The time between two looks at a client that waits for its response. No event of the loop tells of a reset behind a FIN,
  /// because a socket that is at its end would be readable all the time.
  private static let watchPause = Duration.milliseconds(250)
  /// The first time between two looks at a client that has not acknowledged its answer yet. It doubles up to ``watchPause``.
  private static let firstPause = Duration.milliseconds(2)
  /// The looks at such a client: about five seconds. After that its answer counts as sent, as that of any other client does.
  private static let mostLooks: UInt8 = 26

  /// Looks for a reset from time to time, until the answer begins.
  func watchHalfClosed() {
    guard hasClientEnded, phase == .exchanging, !hasResponded else { return }
    setDeadline(after: Self.watchPause)
  }

  /// Ends the request of a client that was reset behind its FIN.
  func lookAtHalfClosed() {
    if let code = stream.takeError() { return socketFailed(code) }
    watchHalfClosed()
  }

  /// Sends FIN after the last answer, and logs that answer only when the client's system has acknowledged or refused it.
  func awaitAcknowledgement() {
    stream.shutdownWrite()
    state.linger()
    lookForAcknowledgement()
  }

  func lookForAcknowledgement() {
    if let code = stream.takeError() {
      forgetUnheardAnswer()
      endsEarly(BodyEnd(party: .client, reason: errorName(code)))
      return close()
    }
    guard stream.bytesUnsent() > 0, looks < Self.mostLooks else { return close() }
    setDeadline(after: min(Self.firstPause * (1 << min(looks, 7)), Self.watchPause))
    looks += 1
  }

  /// Takes the answer back from the log if the client has acknowledged nothing of it: a client that had sent FIN had left before
  /// the answer came.
  func forgetUnheardAnswer() {
    guard hasClientEnded, hasResponded, let request else { return }
    var unheard = output.count - outputSent + stream.bytesUnsent()
    if case .file(let run) = unsentFile { unheard += run.count }
    guard UInt64(unheard) >= request.record.headLength + request.record.bytesSent else { return }
    request.record.forgetAnswer()
  }

  /// Notes why the request ends before its answer was sent completely. A live stream has no other end than that its client leaves,
  /// so it is not cut.
  func endsEarly(_ end: BodyEnd) {
    request?.record.end = end
    guard hasResponded, source?.isLive != true, request?.record.status != 0 else { return }
    connections.noteCut(request, end)
  }
}
