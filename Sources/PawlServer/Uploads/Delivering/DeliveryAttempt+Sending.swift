import PawlHTTP
import PawlUpload
import PawlUploadStore
import PawlUpstream

/// The request goes out, and the answer comes in.
extension DeliveryAttempt: OriginExchangeDelegate {
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
    switch recorded {
    case .nothing: writeJournal(early: nil)
    case .beingWritten: break
    case .sent: isOnRecord(true)
    }
  }

  /// - Parameter answer: one that came before the request was whole.
  private func writeJournal(early answer: UploadAnswer?) {
    recorded = .beingWritten
    upload.journalSent(early: answer, on: loop) { [self] isRecorded in
      recorded = isRecorded ? .sent : .nothing
      guard !isCut, case .journalling = phase else { return }
      isOnRecord(isRecorded)
    }
  }

  private func isOnRecord(_ isRecorded: Bool) {
    // An origin that is gone, or has said no, is given no last byte.
    if isRecorded, early == nil { origin?.readNow() }
    if let early { return conclude(early) }
    guard let exchange = origin, isRecorded else { return stopShort("the journal could not be written") }
    phase = .sent
    if head != nil { limitAnswer() }
    exchange.markHeldBack()
    content?.complete(exchange)
  }

  // MARK: - The answer

  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming) {
    self.head = OriginRequests.relayed(head)
    if case .length(let count) = framing { announced = count }
    if !exchange.stillSends { limitAnswer() }
  }

  private func limitAnswer() {
    let timer = loop.makeTimer { [weak self] in self?.cutAnswer() }
    timer.schedule(after: route.upstream.settings.responseTimeout)
    self.timer = timer
  }

  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer) {
    collector.append(bytes)
    if collector.isBeyondUse, !exchange.stillSends { cutAnswer() }
  }

  /// The verdict is known; what explains it has no end, or takes too long to come.
  func cutAnswer() {
    guard let head, let exchange = origin else { return }
    // It does not count before the rest of the request has gone, which takes as long as it takes.
    guard !exchange.stillSends else { return limitAnswer() }
    origin = nil
    exchange.cancel()
    collector.breakOff()
    came(.answered(head, collector))
  }

  /// The origin says that it has taken what it has not had yet. Sent again by itself it would have that twice: that pawl
  /// may end before the outcome is known is on record from now on.
  func exchangeAnswered(_ exchange: OriginExchange) {
    guard case .sending = phase, case .nothing = recorded, let head else { return }
    writeJournal(early: answer(head, collector))
  }

  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) {
    origin = nil
    guard let head else { return }
    came(.answered(head, collector))
  }

  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) {
    origin = nil
    guard let head else { return came(.broke(failure)) }
    if DeliveryPolicy.saysTaken(status: head.status), !failure.requestWasWhole {
      let why = "the origin answered \(head.status) before it had all"
      return came(failure.hasWholeAnswer ? .takenInPart(head, collector, why) : .broke(failure))
    }
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
