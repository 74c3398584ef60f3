import PawlLoop
import PawlWire

/// How the connection ends: after its answer, in a drain, because its client is gone, or visibly where an answer cannot be finished.
extension HTTP1Connection {
  /// An idle one ends at once, any other with the answer that it gives (``decideWhetherItGoesOn()``); so does one whose request has
  /// come and was not read yet.
  func drain() {
    if state.isWaiting { _ = readEarly() }
    if state.isWaiting { close() }
  }

  func abandonAll(_ end: BodyEnd) {
    endVisibly(end)
    close()
  }

  /// Lets the exchange go and closes at once; the kernel sends what it already took.
  func close() { leave(BodyEnd(party: .client, reason: "closed")) { $0.close() } }

  /// RST: for close-delimited bodies, where nothing else would show the loss, and for peers that stopped reading.
  func cut() { leave(BodyEnd(party: .pawl, reason: "cut")) { $0.reset() } }

  private func leave(_ end: BodyEnd, _ close: (SocketStream) -> Void) {
    guard state.close() else { return }
    connections.deadlines.remove(self)
    dropExchange(end)
    close(stream)
    wasClosed()
  }

  /// Nothing of it is left but what a tunnel took over.
  func wasClosed() {
    listener.takeParser(from: self)
    connections.connectionClosed(self)
  }

  /// Ends abruptly what is not to be answered.
  func abandon(_ end: BodyEnd) {
    guard phase == .exchanging else { return }
    request?.record.end = end
    cut()
  }

  /// The client's side broke: nobody is left to answer.
  func clientBroke(_ reason: String) {
    dropExchange(BodyEnd(party: .client, reason: reason))
    close()
  }

  private func dropExchange(_ end: BodyEnd) {
    guard let exchange else { return }
    self.exchange = nil
    source?.finish()
    source = nil
    unsentFile = nil
    if request?.record.end == nil { request?.record.end = end }
    exchange.clientLeft()
    logRequest()
  }

  /// The body cannot be finished: FIN short of its length, or without the last chunk; RST where the end of the
  /// connection would look like the end of the body.
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

  /// Said in the head of each answer: whether it is the connection's last, because the server drains, or because content of the
  /// request is still to come that nobody wants.
  func decideWhetherItGoesOn() {
    if connections.isDraining || contentIsUnended && !goesOnBehindContent { state.endsHere() }
  }

  private var goesOnBehindContent: Bool {
    UnwantedContent.keepsConnection(
      state.turn.wish, content.remaining, expects: request?.head.fields.contains(.expect) != false)
  }

  /// After the last byte of the last answer: FIN, then drop what still comes for a bounded time, unless nothing does.
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
