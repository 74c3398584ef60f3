import PawlHTTP
import PawlLoop
import PawlWire

/// The request's content, from the session to the exchange. Credit goes back to the client as the exchange takes bytes.
extension HTTP2Stream {
  func receive(_ bytes: UnsafeRawBufferPointer) {
    contentCount += UInt64(bytes.count)
    begin()
    meter.add(bytes.count)
    // A tunnel goes on in this direction when the origin has ended the other.
    if hasAnswered && !isTunnel || hasBegun && exchange == nil { return dropContent(bytes.count) }
    guard hasBegun, !isPaused, held.isEmpty, takesContent, let exchange else { return hold(bytes) }
    guard lastIsCertain else {
      hold(bytes)
      return passContent()
    }
    if !exchange.requestBody(bytes) { isPaused = true }
    connection?.session.consumed(bytes.count, of: id)
  }

  private func hold(_ bytes: UnsafeRawBufferPointer) {
    held.append(bytes)
    connection?.heldContent += bytes.count
  }

  /// Whether the last byte that came may go on. An announced length is reached with its last byte, and the request
  /// may be malformed still, by more bytes (RFC 9113 §8.1.1): that one waits for the end, as a rule in the same frame.
  private var lastIsCertain: Bool {
    guard let contentLength, contentCount >= contentLength, !requestHasEnded else { return true }
    return connection?.session.hasEnded(id) == true
  }

  /// What is held and may go on.
  private func nextHeld() -> (bytes: [UInt8], range: Range<Int>)? {
    if lastIsCertain { return held.next(limit: .max) }
    return held.count > 1 ? held.next(limit: held.count - 1) : nil
  }

  func contentEnded(_ trailers: Fields) {
    state.requestEnds()
    stopTimingContent()
    guard exchange != nil || !hasBegun else { return }
    untoldEnd = trailers
    // One that waits for its end was looked at before.
    switch arrival {
    case .unended: begin()
    case .begun: passContent()
    case .request, .refusal: break
    }
  }

  /// Hands on what is held, as far as the exchange takes it, then the end. Only content that was announced has one.
  func passContent() {
    while !isPaused, takesContent, let exchange, let (bytes, range) = nextHeld() {
      let goesOn = bytes.withUnsafeBytes { exchange.requestBody(UnsafeRawBufferPointer(rebasing: $0[range])) }
      if !goesOn { isPaused = true }
      taken(range.count)
    }
    guard !isPaused, held.isEmpty, let trailers = untoldEnd, takesContent, let exchange else { return }
    untoldEnd = nil
    if isTunnel || request?.head.framing != BodyFraming.none { exchange.requestBodyEnded(trailers) }
  }

  /// What comes before a WebSocket stands is kept for it.
  private var takesContent: Bool {
    if case .asked = webSocket { false } else { true }
  }

  private func taken(_ count: Int) {
    connection?.heldContent -= count
    connection?.session.consumed(count, of: id)
  }

  func resumeRequestBody() {
    guard isPaused else { return }
    isPaused = false
    restartContentTime()
    loop.loop.nextTurn { [weak self] in
      guard let self, !self.isPaused else { return }
      self.passContent()
      self.connection?.pump()
    }
  }

  // MARK: - Content that nobody wants

  func drainRequestBody() { wish = .drained }

  /// The answer is complete and the request is not: the rest is dropped where that is cheap or the exchange asked for it,
  /// since many clients do not read before they have sent; else it is given no more credit, then told to stop
  /// (RFC 9113 §8.1).
  func dropRest() {
    release()
    dropBudget = UnwantedContent.budget(
      wish, contentLength.map { $0 - min($0, contentCount) },
      expects: request?.head.fields.contains(.expect) == true)
    // Some look at no answer any more once the stream is reset (curl before 8).
    timeContent(after: UnwantedContent.time)
  }

  private func dropContent(_ count: Int) {
    if !hasAnswered { return connection?.session.consumed(count, of: id) ?? () }
    guard dropBudget > 0 else { return }
    dropBudget -= count
    if dropBudget > 0 { connection?.session.consumed(count, of: id) }
  }

  /// Credit for what will never be handed on.
  func release() {
    while let (_, range) = held.next(limit: .max) { taken(range.count) }
  }

  /// All that has come, wanted now or not: it may be all there is to come. Of a request that did not end, the last
  /// byte is for an upload alone, which is the same in any number of requests.
  func give(all exchange: any Exchange, isMalformed: Bool = false) {
    let isWhole = exchange is UploadExchange && !isMalformed
    while takesContent, let (bytes, range) = isWhole ? held.next(limit: .max) : nextHeld() {
      _ = bytes.withUnsafeBytes { exchange.requestBody(UnsafeRawBufferPointer(rebasing: $0[range])) }
      taken(range.count)
    }
    guard let trailers = untoldEnd, isTunnel || request?.head.framing != BodyFraming.none else { return }
    untoldEnd = nil
    exchange.requestBodyEnded(trailers)
  }

  // MARK: - min-rate

  /// Starts the time that content has; what the client could not send while it was held back is not held against it.
  func timeContent() {
    guard !requestHasEnded, state.mayAnswer, case .none = webSocket, let request else { return }
    timeContent(after: request.route.minRate.window)
  }

  private func restartContentTime() {
    guard let contentTimer, !contentTimer.isScheduled, !requestHasEnded, !hasResponded else { return }
    meter.restart()
    timeContent()
  }

  func stopTimingContent() {
    guard !hasAnswered || requestHasEnded else { return }
    contentTimer?.cancel()
  }

  func contentTimeIsOver() {
    guard !isClosed, !requestHasEnded else { return }
    if hasAnswered { return reset(.noError) }
    guard hasBegun else { return refuseUnended() }
    guard !hasResponded, let request, let connection else { return }
    let isUpload = exchange is UploadExchange
    let othersHoldUp = connection.heldContent > 0
    switch RateFloor.decide(
      meter, request.route.minRate, isHeldBack: isPaused, othersHoldUp: othersHoldUp, isUpload: isUpload)
    {
    case .waits: break
    case .goesOn:
      meter.restart()
      timeContent()
    case .cut: abandon(RateFloor.end)
    case .refuse:
      request.record.end = RateFloor.end
      exchange?.clientLeft()
      exchange = nil
      reply(Replies.refusal(status: RateFloor.refusal.status, reason: RateFloor.refusal.reason))
    }
  }
}
