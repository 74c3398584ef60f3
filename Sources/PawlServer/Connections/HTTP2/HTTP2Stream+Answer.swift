import PawlHTTP
import PawlLoop
import PawlUpstream
import PawlWire

extension HTTP2Stream: ResponseChannel, BodyConsumer {
  func goesOn(as request: IncomingRequest) { self.request = request }

  func interim(_ head: ResponseHead) {
    guard state.mayAnswer, let connection else { return }
    var head = head
    HopByHop.strip(&head.fields)
    connection.session.sendInterim(head, on: id)
    connection.pump()
  }

  func respond(_ head: consuming ResponseHead, length: ContentLength, body: (any BodySource)?) {
    guard state.mayAnswer, let connection else { return }
    if case .asked = webSocket, (200..<300).contains(head.status) {
      // In HTTP/2 a 2xx response to CONNECT would mean that the tunnel is established (RFC 8441 §5).
      body?.finish()
      return failUpgrade(status: head.status)
    }
    state.respond()
    stopTimingContent()
    // The rest of the request may be in memory. It was held back because the origin did not take it; then the origin responded
    // before it had read the whole request.
    isPaused = false
    passContent()
    var head = head
    let length = head.length(length)
    if let request { request.dress(&head) } else { head.addOrigin(date: loop.dateField) }
    request?.record.status = head.status
    request?.record.answeredAt = loop.loop.now
    if case .known(let count) = length { request?.collect(head, length: count) } else { request?.collect(head) }
    let hasContent = request?.head.method != .head && body != nil && length != .known(0) && length != .none
    var announced: UInt64?
    if case .known(let count) = length { announced = count }
    if hasContent { request?.record.announced = announced }
    if hasContent, let body {
      outgoing.begin(body, owed: announced)
      body.consumer = self
    } else {
      body?.finish()
    }
    progressAt = loop.loop.now
    connection.session.sendHead(head, length: announced, hasContent: hasContent, on: id)
    if hasContent { connection.expect(within: connection.listener.settings.sendTimeout) }
    connection.pump()
  }

  var hasClientEnded: Bool { connection == nil }

  func bodyIsReady() {
    guard let connection, !isClosed, outgoing.isWaiting else { return }
    outgoing.isWaiting = false
    progressAt = loop.loop.now
    connection.session.resume(id)
    connection.expect(within: connection.listener.settings.sendTimeout)
    connection.pump()
  }

  // MARK: - Content, as the session asks for it

  func offer(_ limit: Int) -> HTTP2Offer {
    let offer = outgoing.offer(limit)
    guard case .failed(let end) = offer else { return offer.plain }
    request?.record.end = end
    loop.noteCut(request, end)
    drop(end)
    return .failed(end.party == .client ? .cancel : .internalError)
  }

  func append(_ count: Int, to output: inout [UInt8]) -> Bool {
    progressAt = loop.loop.now
    request?.noteSent(count)
    guard let failure = outgoing.append(count, to: &output) else { return true }
    request?.record.end = failure
    loop.noteCut(request, failure)
    drop(failure)
    return false
  }

  /// Returns the time within which the client has to read something of the answer; `nil` if there is nothing for the client to
  /// read. Ends the stream if that time is over.
  func sendingDue(_ now: Monotonic) -> Duration? {
    guard state.isAnswering, !isTunnel, !outgoing.isWaiting, let connection else { return nil }
    let limit = connection.listener.settings.sendTimeout
    // A stream that waits for other streams or for the socket does not use up its time.
    if !connection.session.isHeldBack(id) { progressAt = max(progressAt, connection.stuckSince ?? now) }
    guard now - progressAt >= limit else { return limit - (now - progressAt) }
    endVisibly(BodyEnd(party: .client, reason: "send-timeout"))
    return nil
  }

  // MARK: - WebSocket (RFC 8441)

  func upgrade(_ head: ResponseHead, to origin: SocketStream, leftover: [UInt8], holding: AnyObject) {
    guard state.mayAnswer, case .asked(let handshake) = webSocket else { return origin.close() }
    guard let head = handshake.answer(to: head) else {
      origin.close()
      return failUpgrade(status: head.status)
    }
    exchange = nil
    webSocket = .tunnel
    request?.counts(as: .tunnel)
    let tunnel = HTTP2Tunnel(channel: self, connections: loop)
    exchange = tunnel
    respond(head, length: .unknown, body: tunnel)
    tunnel.start(origin, leftover: leftover, holding: holding)
    passContent()
  }

  private func failUpgrade(status: Int) {
    guard let request else { return }
    exchange?.clientLeft()
    exchange = nil
    webSocket = .none
    fail(request, ProxyError(.httpUpgradeFailed, receivedStatus: status))
  }
}
