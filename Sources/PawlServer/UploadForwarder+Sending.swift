import PawlHTTP
import PawlStore
import PawlUpload
import PawlUpstream

/// The request goes out, and the answer comes in.
extension UploadForwarder: OriginExchangeDelegate {
  func exchangeConnected(_ exchange: OriginExchange) {
    // Without content the head is what must not go before the journal has it.
    guard let content, !content.heldBack.isEmpty else { return journal(exchange) }
    exchangeWantsBody(exchange)
  }

  func exchangeWantsBody(_ exchange: OriginExchange) {
    guard case .sending = phase, let content, !content.isHandedOver else { return }
    let isDone = content.send(to: exchange) { [weak self, weak exchange] in
      guard let self, let exchange, self.origin === exchange else { return }
      self.exchangeWantsBody(exchange)
    }
    guard isDone else { return }
    exchange.whenFlushed { [weak self, weak exchange] in
      guard let self, let exchange else { return }
      self.journal(exchange)
    }
  }

  /// All is with the socket but what makes the request whole: that this follows is on record first.
  private func journal(_ exchange: OriginExchange) {
    guard case .sending = phase else { return }
    phase = .journalling
    upload.journalSent(on: loop) { [self] isRecorded in
      guard !isCut else { return }
      if isRecorded, early == nil { exchange.readNow() }
      if let early { return conclude(early) }
      guard isRecorded else { return comeBack("the journal could not be written") }
      phase = .sent
      exchange.markHeldBack()
      content?.complete(exchange)
    }
  }

  // MARK: - The answer

  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming) {
    self.head = OriginRequests.relayed(head)
    if case .length(let count) = framing { announced = count }
    let timer = loop.makeTimer { [weak self] in self?.cutAnswer() }
    timer.schedule(after: route.upstream.settings.responseTimeout)
    self.timer = timer
  }

  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer) {
    collector.append(bytes)
    if collector.isBeyondUse { cutAnswer() }
  }

  /// The verdict is known; what explains it has no end, or takes too long to come.
  func cutAnswer() {
    guard let head, let exchange = origin else { return }
    origin = nil
    exchange.cancel()
    collector.breakOff()
    came(.answered(head, collector))
  }

  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) {
    origin = nil
    guard let head else { return }
    came(.answered(head, collector))
  }

  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) {
    origin = nil
    guard let head else { return came(.broke(failure)) }
    // Its verdict is known; only the explanation is cut off, which whoever gets it shall see.
    collector.breakOff()
    came(.answered(head, collector))
  }

  private func came(_ outcome: Outcome) {
    switch phase {
    case .journalling: early = outcome
    case .preparing, .sending, .sent: conclude(outcome)
    case .over: break
    }
  }
}
