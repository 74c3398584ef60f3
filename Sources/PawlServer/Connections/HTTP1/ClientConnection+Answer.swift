import PawlHTTP
import PawlLoop
import PawlWire

/// How exchanges answer: heads on their way into the output, and what of the connection they decide.
extension ClientConnection: ResponseChannel {
  func interim(_ head: ResponseHead) {
    guard phase == .exchanging, !hasResponded, !isDeaf, clientVersion.minor >= 1 else { return }
    var head = head
    HopByHop.strip(&head.fields)
    HeadWriter.write(head, framing: .none, connection: .keepAlive, into: &output)
    pump()
  }

  func respond(_ head: consuming ResponseHead, length: ContentLength, body: (any BodySource)?) {
    guard phase == .exchanging, !hasResponded else { return }
    let length = putHead(head, length)
    if isHeadRequest || body == nil || length == .known(0) || length == .none {
      body?.finish()
      owed = nil
      source = nil
    } else {
      source = body
      body?.consumer = self
    }
    setDeadline(after: listener.settings.sendTimeout)
    pump()
  }

  func respond(_ head: consuming ResponseHead, content: UnsafeRawBufferPointer) {
    guard phase == .exchanging, !hasResponded else { return }
    let length = putHead(head, .known(UInt64(content.count)))
    owed = nil
    if !isHeadRequest, length != .none {
      output.append(contentsOf: content)
      request?.record.bytesSent += UInt64(content.count)
    }
    setDeadline(after: listener.settings.sendTimeout)
    pump()
  }

  /// Puts the head of the answer into the output.
  /// - Returns: how long the content is.
  private func putHead(_ head: consuming ResponseHead, _ length: ContentLength) -> ContentLength {
    var head = head
    hasResponded = true
    clearDeadline()
    if let requestBody, requestBody.isEnded || !input.isEmpty {
      // The rest of the request may be here already, held back for an origin that answered before it took it.
      requestBodyIsPaused = false
      consumeInput()
    }
    if let requestBody, !requestBody.isEnded, !isCheaplyDrained(requestBody) { persists = false }
    if owner.isDraining { persists = false }
    let length = head.length(length)
    let framing = bodyFraming(length)
    request?.dress(&head)
    request?.record.status = head.status
    HeadWriter.write(
      head, framing: framing, connection: persists ? .keepAlive : .close, to: clientVersion, into: &output)
    return length
  }

  func drainRequestBody() { drainsRequestBody = true }

  var hasClientEnded: Bool { clientEnded }

  /// A client that waits for `100 (Continue)` may send the rest, or the next request.
  private func isCheaplyDrained(_ body: BodyDecoder) -> Bool {
    guard drainsRequestBody, let remaining = body.remaining else { return false }
    return remaining <= UInt64(Self.drainBudget) && request?.head.fields.contains(.expect) == false
  }

  private func bodyFraming(_ length: ContentLength) -> BodyFraming {
    (isChunked, isCloseDelimited, owed) = (false, false, nil)
    switch length {
    case .none: return .none
    case .known(let count):
      owed = count
      return .length(count)
    case .unknown where isHeadRequest: return .none
    case .unknown where clientVersion.minor >= 1:
      isChunked = true
      return .chunked
    case .unknown:
      isCloseDelimited = true
      persists = false
      return .none
    }
  }

  /// A complete answer of pawl's own to something that never became an exchange; the connection ends after it.
  func refuse(status: Int, reason: StaticString) {
    guard phase != .closed, phase != .lingering, phase != .flushing else { return }
    persists = false
    stream.stopReading()
    requestBody = nil
    var reply = Replies.refusal(status: status, reason: reason)
    request?.dressForOthers(&reply.head)
    request?.dressForTransport(&reply.head)
    output.append(contentsOf: reply.bytes(date: owner.dateField))
    owner.logRefusal(facts, status: status, bytes: reply.body.count)
    phase = .flushing
    request = nil
    setDeadline(after: listener.settings.sendTimeout)
    pump()
  }

  func upgrade(_ head: ResponseHead, to origin: SocketStream, leftover: [UInt8], holding: AnyObject) {
    guard phase == .exchanging, !hasResponded, let request else { return origin.close() }
    hasResponded = true
    var head = head
    request.dress(&head)
    request.record.status = head.status
    HeadWriter.write(head, framing: .none, connection: .upgrade, into: &output)
    output.append(contentsOf: leftover)
    let pendingToClient = Array(output[outputSent...])
    let pendingToOrigin = input
    exchange = nil
    phase = .closed
    owner.deadlines.remove(self)
    owner.tunnel(
      from: self, client: stream, origin: origin, toClient: pendingToClient, toOrigin: pendingToOrigin,
      headCount: UInt64(pendingToClient.count - leftover.count), request: request, holding: holding)
  }
}
