import PawlLoop
import PawlWire

/// The end of the connection: after its answer, in a drain, because the client has gone, or visibly where an answer cannot be
/// finished.
extension HTTP1Connection {
  /// Closes an idle connection at once; a busy one ends after its present answer (``decideWhetherItGoesOn()``), or earlier if the
  /// client can go on elsewhere. A request that has arrived and was not read yet is still answered. A connection without any request
  /// yet, or whose head is being read, has a grace (``LoopConnections/drainGrace``) for it.
  func drain() {
    if state.isWaiting { _ = readEarly() }
    exchange?.endEarly()
    switch phase {
    case .fresh, .inHead: if let grace = connections.drainGrace { setDeadline(after: grace) }
    case .idle: close()
    case .exchanging, .flushing, .lingering, .closed: break
    }
  }

  func abandonAll(_ end: BodyEnd) {
    endVisibly(end)
    close()
  }

  /// Ends the exchange and closes the socket at once; the kernel still sends what it has taken.
  func close() { leave(BodyEnd(party: .client, reason: "closed")) { $0.close() } }

  /// Closes with RST: for close-delimited bodies, where FIN would look like the end of the body, and for clients that have
  /// stopped reading.
  func cut() { leave(BodyEnd(party: .pawl, reason: "cut")) { $0.reset() } }

  private func leave(_ end: BodyEnd, _ close: (SocketStream) -> Void) {
    guard state.close() else { return }
    connections.deadlines.remove(self)
    dropExchange(end)
    // An answer whose acknowledgement was awaited is not logged yet.
    logRequest()
    close(stream)
    wasClosed()
  }

  /// Removes the connection from its loop, since it is closed, or the tunnel over its socket has ended.
  func wasClosed() {
    listener.takeParser(from: self)
    connections.connectionClosed(self)
  }

  /// Ends the connection abruptly, without an answer.
  func abandon(_ end: BodyEnd) {
    guard phase == .exchanging else { return }
    request?.record.end = end
    cut()
  }

  /// Ends the exchange and the connection, since the client's side broke.
  func clientBroke(_ reason: String) {
    dropExchange(BodyEnd(party: .client, reason: reason))
    close()
  }

  /// Ends the exchange and the connection, since the socket failed.
  func socketFailed(_ code: CInt) {
    forgetUnheardAnswer()
    clientBroke(errorName(code))
  }

  private func dropExchange(_ end: BodyEnd) {
    guard let exchange else { return }
    self.exchange = nil
    if request?.record.end == nil { endsEarly(end) }
    source?.finish()
    source = nil
    unsentFile = nil
    exchange.clientLeft()
    logRequest()
  }

  /// Ends a body that cannot be finished, in a way that the client can see: with FIN before the announced length or the last
  /// chunk, or with RST where the end of the connection would look like the end of the body.
  func endVisibly(_ end: BodyEnd) {
    guard phase == .exchanging else { return }
    request?.record.end = end
    connections.noteCut(request, end)
    if state.isCloseDelimited || end.reason == "send-timeout" { return cut() }
    dropExchange(end)
    state.flush()
    setDeadline(after: listener.settings.sendTimeout)
    pump()
  }

  /// Makes this answer the connection's last if the server drains, or if the rest of the request's content is not worth reading
  /// (``UnwantedContent``). Called before each head is written, because the head announces the end (`Connection: close`).
  func decideWhetherItGoesOn() {
    if connections.isDraining || contentIsUnended && !goesOnBehindContent { state.endsHere() }
  }

  private var goesOnBehindContent: Bool {
    UnwantedContent.keepsConnection(
      state.turn.wish, content.remaining, expects: request?.head.fields.contains(.expect) != false)
  }

  /// Sends FIN after the last answer, then for a limited time reads and drops what still comes (lingering close). If it is
  /// known that the client sends nothing more, the connection is closed without lingering.
  func finishConnection() {
    if hasClientEnded || state.turn.isClientsLast && input.isEmpty && !stream.holdsUnread { return close() }
    stream.shutdownWrite()
    state.linger()
    input = []
    content = .none
    lingering = Lingering(budget: UnwantedContent.limit)
    setDeadline(after: state.turn.wish == .drained ? UnwantedContent.time : .seconds(5))
    if !stream.isReading { stream.startReading() }
  }
}
