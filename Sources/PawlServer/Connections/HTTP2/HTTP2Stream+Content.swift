import PawlHTTP
import PawlLoop
import PawlWire

/// The request's content, on its way from the session to the exchange. The client gets its credit back as the exchange takes
/// bytes.
extension HTTP2Stream {
  func receive(_ bytes: UnsafeRawBufferPointer) {
    contentCount += UInt64(bytes.count)
    loop.counters.add(.fromClient, UInt64(bytes.count))
    begin()
    request?.record.contentReceived = contentCount
    meter.add(bytes.count)
    // A tunnel still carries bytes to the origin after the origin has ended its own direction.
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

  /// Whether the last received byte may be passed on. Even when the announced length is reached, further bytes may come, and
  /// would make the request malformed (RFC 9113 §8.1.1). So the last byte waits for END_STREAM, which usually is in the same
  /// frame.
  private var lastIsCertain: Bool {
    guard let contentLength, contentCount >= contentLength, !requestHasEnded else { return true }
    return connection?.session.hasEnded(id) == true
  }

  /// Takes held bytes that may be passed on.
  private func nextHeld() -> (bytes: [UInt8], range: Range<Int>)? {
    if lastIsCertain { return held.next(limit: .max) }
    return held.count > 1 ? held.next(limit: held.count - 1) : nil
  }

  func contentEnded(_ trailers: Fields) {
    state.requestEnds()
    stopTimingContent()
    guard exchange != nil || !hasBegun else { return }
    untoldEnd = trailers
    // A request without content that waits for its end begins now.
    switch arrival {
    case .unended: begin()
    case .begun: passContent()
    case .request, .refusal: break
    }
  }

  /// Passes on the held bytes while the exchange takes them, then the end. For a request that announced no content, no end is
  /// passed on.
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

  /// Whether content is passed on. Bytes for a WebSocket are kept until the origin has accepted the handshake.
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

  // MARK: - Unwanted content

  func drainRequestBody() { wish = .drained }

  /// Handles the rest of a request whose answer is complete. The rest is read and dropped if it is small or the exchange
  /// requested that, since many clients do not read the answer before they have sent everything. Otherwise the client gets no
  /// more credit. If the request has not ended after ``UnwantedContent/time``, the stream is reset (RFC 9113 §8.1).
  func dropRest() {
    release()
    dropBudget = UnwantedContent.budget(
      wish, contentLength.map { $0 - min($0, contentCount) },
      expects: request?.head.fields.contains(.expect) == true)
    // The stream is not reset at once, because some clients then ignore the answer (curl before 8).
    timeContent(after: UnwantedContent.time)
  }

  private func dropContent(_ count: Int) {
    if !hasAnswered { return connection?.session.consumed(count, of: id) ?? () }
    guard dropBudget > 0 else { return }
    dropBudget -= count
    if dropBudget > 0 { connection?.session.consumed(count, of: id) }
  }

  /// Gives credit for held bytes that will never be passed on.
  func release() {
    while let (_, range) = held.next(limit: .max) { taken(range.count) }
  }

  /// Passes all held bytes to an exchange whose stream is about to end, even if the exchange is paused, since it gets no later
  /// call. If END_STREAM has not come, the last byte goes to an upload only, because the content of an upload may be split over
  /// any number of requests.
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

  /// Starts the time limit of the request's content. The time in which pawl held the client back does not count.
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
    case .cut:
      loop.counters.add(.rejectedMinRate)
      abandon(RateFloor.end)
    case .refuse:
      loop.counters.add(.rejectedMinRate)
      request.record.end = RateFloor.end
      exchange?.clientLeft()
      exchange = nil
      reply(Replies.refusal(status: RateFloor.refusal.status, reason: RateFloor.refusal.reason))
    }
  }
}
