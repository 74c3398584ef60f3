import PawlHTTP
import PawlLoop
import PawlWire

/// The channel through which exchanges answer: writes heads into the output and decides whether the connection goes on.
extension HTTP1Connection: ResponseChannel {
  func goesOn(as request: IncomingRequest) { self.request = request }

  func interim(_ head: ResponseHead) {
    guard state.takesInterim else { return }
    var head = head
    HopByHop.strip(&head.fields)
    HeadWriter.write(head, framing: .none, connection: .keepAlive, into: &output)
    pump()
  }

  func respond(_ head: consuming ResponseHead, length: ContentLength, body: (any BodySource)?) {
    guard state.mayAnswer else { return }
    let length = putHead(head, length)
    if state.turn.isHead || body == nil || length == .known(0) || length == .none {
      body?.finish()
      owed = .unknown
      source = nil
    } else {
      source = body
      body?.consumer = self
    }
    setDeadline(after: listener.settings.sendTimeout)
    pump()
  }

  func respond(_ head: consuming ResponseHead, content: UnsafeRawBufferPointer) {
    guard state.mayAnswer else { return }
    let length = putHead(head, .known(UInt64(content.count)))
    owed = .unknown
    if !state.turn.isHead, length != .none {
      output.append(contentsOf: content)
      request?.noteSent(content.count)
    }
    setDeadline(after: listener.settings.sendTimeout)
    pump()
  }

  /// Writes the head of the answer into the output.
  /// - Returns: the length of the content.
  private func putHead(_ head: consuming ResponseHead, _ length: ContentLength) -> ContentLength {
    var head = head
    state.respond()
    clearDeadline()
    if hasContent, content.isEndUntold || !input.isEmpty {
      // The rest of the request may be in the input. It was held back because the origin did not take it; then the origin
      // responded before it had read the whole request.
      content.goOn()
      consumeInput()
    }
    decideWhetherItGoesOn()
    let length = head.length(length)
    let framing = state.frame(length)
    owed = if case .known(let count) = length { .bytes(count) } else { .unknown }
    request?.dress(&head)
    request?.record.status = head.status
    request?.record.answeredAt = connections.loop.now
    if case .known(let count) = length, !state.turn.isHead { request?.record.announced = count }
    let before = output.count
    HeadWriter.write(
      head, framing: framing, connection: state.turn.persists ? .keepAlive : .close, to: clientVersion, into: &output)
    request?.record.headLength = UInt64(output.count - before)
    request?.collect(head, written: output[before...])
    return length
  }

  func drainRequestBody() { state.turn.wish = .drained }

  /// Sends a complete reply of pawl for input that no exchange answers, then ends the connection.
  /// - Parameter read: what came of the request, if it never became one.
  func refuse(status: Int, reason: StaticString, _ read: Bytes = []) {
    guard state.flush() else { return }
    stream.stopReading()
    content = .none
    var reply = Replies.refusal(status: status, reason: reason)
    request?.dressForOthers(&reply.head)
    request?.dressForTransport(&reply.head)
    let bytes = reply.bytes(date: connections.dateField)
    output.append(contentsOf: bytes)
    logRefusal(reply, bytes.dropLast(reply.body.count), read)
    setDeadline(after: listener.settings.sendTimeout)
    pump()
  }

  /// - Parameter head: the head of the reply, as it was written.
  private func logRefusal(_ reply: Replies.Reply, _ head: Bytes, _ read: Bytes) {
    guard let request else {
      return connections.logRefusal(
        facts, status: reply.head.status, bytes: reply.body.count, RefusedHead(read), answer: head)
    }
    request.record.status = reply.head.status
    request.noteSent(reply.body.count)
    request.record.headLength = UInt64(head.count)
    request.collect(reply.head, written: head)
    if request.record.end == nil { request.record.end = BodyEnd(party: .client, reason: "refused") }
    logRequest()
  }

  func upgrade(_ head: ResponseHead, to origin: SocketStream, leftover: [UInt8], holding: AnyObject) {
    guard state.mayAnswer, let request else { return origin.close() }
    state.respond()
    var head = head
    request.dress(&head)
    request.record.status = head.status
    request.record.answeredAt = connections.loop.now
    request.counts(as: .tunnel)
    let before = output.count
    HeadWriter.write(head, framing: .none, connection: .upgrade, into: &output)
    request.collect(head, written: output[before...])
    output.append(contentsOf: leftover)
    let pendingToClient = Array(output[outputSent...])
    let pendingToOrigin = input
    exchange = nil
    state.close()
    connections.deadlines.remove(self)
    connections.tunnel(
      from: self, client: stream, origin: origin, toClient: pendingToClient, toOrigin: pendingToOrigin,
      headCount: UInt64(pendingToClient.count - leftover.count), request: request, holding: holding)
  }
}
