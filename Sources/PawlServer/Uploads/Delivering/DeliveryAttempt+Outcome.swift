import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpload
import PawlUploadStore
import PawlUpstream

/// Decides what the outcome of an attempt means, and records the decision.
extension DeliveryAttempt {
  /// The time for which a response body above `response-max` is available.
  private static let spillLifetime = Duration.seconds(60)

  private func count(_ result: LoopCounter) { loopUploads.services.counters.add(result) }

  func conclude(_ outcome: Outcome) {
    switch outcome {
    case .answered(let head, let collector):
      // The origin speaks tus, and refused the plain request. So the upload is sent again, in tus.
      if let request, OriginProtocolLearning.learn(delivery: request.incoming, head), upload.origin.isTus,
        !request.isTus
      {
        return comeBack("the origin wants tus (\(head.status))", after: .zero)
      }
      let answer = self.answer(head, collector)
      switch request?.isTus == true && !isTaken(head) ? .notConsumed : DeliveryPolicy.verdict(status: head.status) {
      case .answered:
        if head.status < 500 { loopUploads.queue.cameBack(route.upstreamName) }
        count(.forwardAnswered)
        keep(answer, head, collector.spilled)
      case .notConsumed: passOn(answer, "the origin answered \(head.status)")
      }
    case .broke(let failure):
      let why = failure.error.details.map { "\(failure.error.kind.rawValue): \($0)" } ?? failure.error.kind.rawValue
      guard case .sent = phase, !failure.lacksHeldBack else {
        return comeBack(why, isAway: failure.beforeHead && !failure.requestBytesSent)
      }
      switch DeliveryPolicy.afterBreak(sent: true, uploads.delivery) {
      case .again: comeBack(why)
      case .unknown: leaveUnknown(why)
      }
    case .takenInPart(let head, let collector, let why):
      phase = .over
      letGo()
      guard let request else { return }
      // The origin may have acted on the bytes that it got, so stored responses may be out of date.
      loopUploads.services.invalidate(after: request.incoming, answer: head) { [self] in
        leaveUnknown(why, answer: answer(head, collector))
      }
    }
  }

  /// Returns the origin's response in the form in which it is stored.
  func answer(_ head: ResponseHead, _ collector: ResponseCollector) -> UploadAnswer {
    var answer = UploadAnswer(
      status: head.status, reason: Array(head.reason), fields: head.fields,
      body: collector.isTruncated ? collector.part : collector.memory, isTruncated: collector.isTruncated,
      at: loop.wallSeconds, keepFor: uploads.settings.responseTTL)
    // The announced length shows the client how much is missing.
    if collector.isTruncated, let announced { answer.fields.set(.contentLength, Bytes("\(announced)")) }
    return answer
  }

  /// Ends an attempt whose request pawl cannot finish.
  func stopShort(_ why: String) {
    guard origin?.hasWholeAnswer == true, let head else { return comeBack(why) }
    conclude(.takenInPart(head, collector, why))
  }

  /// Whether the origin took all bytes of a delivery in tus (tus 1.0.0, creation-with-upload). Also `true` if the origin refused
  /// the delivery (no 2xx), because a refusal is judged like any other response.
  private func isTaken(_ head: ResponseHead) -> Bool {
    guard (200..<300).contains(head.status) else { return true }
    return head.fields.only(.uploadOffset)?.trimmed.strictDecimal == upload.status.offset
  }

  /// Handles a refusal by `auth-request`. After 401 and 429 the client may try again; any other 4xx is the upload's final
  /// response.
  func wasRefused(_ head: ResponseHead, _ body: [UInt8], isWhole: Bool) {
    let answer = UploadAnswer(
      status: head.status, reason: Array(head.reason), fields: head.fields, body: body, isTruncated: !isWhole,
      at: loop.wallSeconds, keepFor: uploads.settings.responseTTL)
    let why = "auth-request answered \(head.status)"
    switch DeliveryPolicy.verdict(status: head.status) {
    case .answered:
      loopUploads.events.log(.notice, "upload-refused", ["upload": id, "why": why])
      count(.forwardRefused)
      keep(answer, head, nil)
    case .notConsumed: passOn(answer, why)
    }
  }

  // MARK: - Consumed

  private func keep(_ answer: UploadAnswer, _ head: ResponseHead, _ spilled: OversizedResponse?) {
    phase = .over
    letGo()
    if let spilled { lend(spilled) }
    guard let request else { return }
    loopUploads.services.invalidate(after: request.incoming, answer: head) { [self] in record(answer) }
  }

  private func record(_ answer: UploadAnswer) {
    insist("answer \(answer.status)", from: [.forwarding, .sent]) { [self] in
      upload.answer(answer, for: askers, on: loop, then: $0)
    } then: { [self] in
      loopUploads.events.log(
        .info, "upload-answered",
        ["upload": id, "status": "\(answer.status)", "attempt": "\(attempt)", "upstream": route.upstreamName])
    }
  }

  private var askers: [[UInt8]] {
    let origin = upload.origin
    return Owner.tokens(origin.owner, creation: origin.head.fields, delivered: request?.incoming.head.fields)
  }

  /// Repeats a step until it is recorded, then ends the attempt. So no upload is forgotten while the disk is full.
  /// - Parameter phases: the phases in which the step is possible. In any other phase, a different step was taken meanwhile, and
  ///   the attempt ends.
  private func insist(
    _ name: String, from phases: Set<UploadPhase>, _ step: @escaping (@escaping (Bool) -> Void) -> Void,
    then: @escaping () -> Void = {}
  ) {
    guard !isCut else { return }
    guard phases.contains(upload.status.phase) else { return end() }
    step { [self] isRecorded in
      guard !isCut else { return }
      guard isRecorded else {
        loopUploads.events.log(.error, "upload-record-failed", ["upload": id, "step": name])
        let timer = loop.makeTimer { [weak self] in self?.insist(name, from: phases, step, then: then) }
        timer.schedule(after: DeliveryQueue.storePatience)
        self.timer = timer
        return
      }
      then()
      end()
    }
  }

  private func lend(_ spilled: OversizedResponse) {
    let (answers, uploadID) = (loopUploads.oversizedResponses, upload.id)
    answers.withLock { $0[uploadID] = spilled }
    loopUploads.services.perform(after: Self.spillLifetime) { answers.withLock { $0[uploadID] = nil } }
  }

  func refuseForGood(_ why: String) {
    count(.forwardRefused)
    phase = .over
    // First the upload goes back from `forwarding` to `complete`, because the origin has no bytes of the upload.
    upload.noteAttempt(failed: why, nextAt: nil)
    insist("invalid", from: [.complete]) { [self] in upload.invalidate(why: why, on: loop, then: $0) }
  }

  // MARK: - Not consumed

  /// Passes 401, 429 or 503 to the client that waits; the upload stays complete, and can be delivered again.
  func passOn(_ answer: UploadAnswer, _ why: String) {
    count(.forwardNotConsumed)
    let pause = DeliveryPolicy.pauseWithoutClient(status: answer.status, retryAfter: retryAfter(answer.fields))
    if pause == nil, uploads.settings.forwardGiveUp == nil {
      // The client may never come back, so the wait for the client has an end. An attempt for which no client waits, such as one
      // after a start of pawl, does not move that end to a later time.
      let end = loop.wallSeconds + uploads.store.expireAfter.wholeSeconds
      upload.giveUpAt = isUrgent ? end : formerEnd ?? end
    }
    goBack(why, after: pause, refusal: UploadLastRefusal(attempt: attempt, answer: answer))
  }

  private func retryAfter(_ fields: Fields) -> Int64? {
    guard let value = fields.only(.retryAfter)?.trimmed else { return nil }
    if let seconds = value.strictDecimal { return Int64(clamping: seconds) }
    return HTTPDate.parse(value, now: loop.wallSeconds).map { $0 - loop.wallSeconds }
  }

  /// Puts the upload back for another attempt, because the origin has not acted on the upload, or because the route allows that
  /// it is delivered twice (`at-least-once`).
  /// - Parameter isAway: whether the origin could not be reached. If so, the next attempt is made as soon as another upload
  ///   reaches the origin.
  /// - Parameter after: the time until the next attempt; `nil`: a time that grows with the number of attempts
  ///   (``DeliveryPolicy``).
  func comeBack(_ why: String, isAway: Bool = false, after: Duration? = nil) {
    count(isAway ? .forwardUnreachable : .forwardBroke)
    if let after { return goBack(why, after: after) }
    let pause = DeliveryPolicy.backoff(attempt: attempt)
    // A random part spreads the attempts of uploads that failed at the same time.
    goBack(why, after: pause - pause / 4 * Int(Randomness.uint64() % 256) / 256, isAway: isAway)
  }

  /// Puts the upload back, and plans the next attempt. If the journal says `sent`, the return to `complete` is recorded before
  /// the client gets the refusal, so that the client can rely on this phase.
  private func goBack(
    _ why: String, after pause: Duration?, isAway: Bool = false, refusal: UploadLastRefusal? = nil
  ) {
    phase = .over
    letGo()
    let nextAt = pause.map { loop.wallSeconds + $0.wholeSeconds }
    loopUploads.events.log(
      .warning, "upload-forward-failed",
      [
        "upload": id, "attempt": "\(attempt)", "upstream": route.upstreamName, "why": why,
        "next": pause.map { "\($0.wholeSeconds)s" } ?? "on-client-request",
      ])
    let queue = loopUploads.queue
    let wait = { [upload, route] in
      queue.pause(upload, for: pause, nextAttempt: nextAt, awaiting: isAway ? route.upstreamName : nil)
    }
    if upload.status.phase == .sent {
      return insist("complete", from: [.sent]) { [self] in
        upload.comeBack(failed: why, nextAt: nextAt, refusal: refusal, on: loop, then: $0)
      } then: {
        wait()
      }
    }
    if let refusal { upload.lastRefusal = refusal }
    upload.noteAttempt(failed: why, nextAt: nextAt)
    guard !isCut else { return }
    end()
    wait()
  }

  /// Records that the outcome is unknown, so that the operator decides.
  /// - Parameter answer: a response that does not count, shown to the operator.
  private func leaveUnknown(_ why: String, answer: UploadAnswer? = nil) {
    count(.forwardUnknown)
    phase = .over
    letGo()
    // The operator may need more time than the time limit for deliveries allows, so the limit is removed.
    upload.giveUpAt = nil
    insist("unknown", from: [.forwarding, .sent]) { [self] in
      upload.becomeUnknown(why: why, answer: answer, on: loop, then: $0)
    }
  }
}
