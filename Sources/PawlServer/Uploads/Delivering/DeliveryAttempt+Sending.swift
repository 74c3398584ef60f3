import PawlHTTP
import PawlUpload
import PawlUploadStore
import PawlUpstream

/// Sends the request, and receives the origin's response.
extension DeliveryAttempt: OriginExchangeDelegate {
  func exchangeConnected(_ exchange: OriginExchange) {
    // If there is no content, the head is held back, because it must not be sent before the journal is written.
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

  /// Writes the journal, because all but the end of the request has been handed to the socket. The end may be sent only after
  /// `sent` is durable.
  private func journal(_ exchange: OriginExchange) {
    guard case .sending = phase else { return }
    phase = .journalling
    switch recorded {
    case .nothing: writeJournal(early: nil)
    case .beingWritten: break
    case .sent: isOnRecord(true)
    }
  }

  /// Records `sent` in the journal.
  /// - Parameter answer: a response that came before the complete request was sent.
  private func writeJournal(early answer: UploadAnswer?) {
    recorded = .beingWritten
    upload.journalSent(early: answer, on: loop) { [self] isRecorded in
      recorded = isRecorded ? .sent : .nothing
      guard !isCut, case .journalling = phase else { return }
      isOnRecord(isRecorded)
    }
  }

  private func isOnRecord(_ isRecorded: Bool) {
    // First read what the origin sent meanwhile. If the origin has closed the connection or refused the request, the end of the
    // request is not sent.
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
    loopUploads.services.counters.add(.fromOriginNew, UInt64(bytes.count))
    collector.append(bytes)
    if collector.isBeyondUse, !exchange.stillSends { cutAnswer() }
  }

  /// Cuts the body of the response, because the body is too long or too slow. The status is known.
  func cutAnswer() {
    guard let head, let exchange = origin else { return }
    // The status does not count before the rest of the request is sent, however long that takes.
    guard !exchange.stillSends else { return limitAnswer() }
    origin = nil
    exchange.cancel()
    collector.breakOff()
    came(.answered(head, collector))
  }

  /// Called when the origin has got only a part of the request yet, but has already sent a complete response that says that the
  /// upload was taken. The journal is written at once: if pawl ends now, the outcome is unknown, and pawl must not send the
  /// upload a second time without an order of the operator.
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
    exchange.remedy = .other("the delivery is judged: see upload-forward-failed or upload-unknown")
    guard let head else { return came(.broke(failure)) }
    if DeliveryPolicy.saysTaken(status: head.status), !failure.requestWasWhole {
      let why = "the origin answered \(head.status) before it had all"
      return came(failure.hasWholeAnswer ? .takenInPart(head, collector, why) : .broke(failure))
    }
    // The status is known. The body is incomplete, and the client sees that it is.
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
