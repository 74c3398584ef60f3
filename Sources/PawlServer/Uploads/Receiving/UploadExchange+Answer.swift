import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// Waits for the origin's response to the upload, and passes the response to a client that may have it.
extension UploadExchange {
  /// Queues the delivery of the upload, unless the delivery is already queued or running.
  func deliver() {
    guard let upload else { return }
    baseline = upload.lastRefusal?.attempt ?? 0
    DeliveryAttempt.deliver(upload, route: request.route, on: deliveries)
  }

  /// Waits for the origin's response. If the upload protocol has interim responses, they keep the client's connection alive.
  func awaitAnswer() {
    guard let upload, let uploads else { return refuse(.storage) }
    dropWriter()
    let wait = ResponseWait(
      upload, on: loop.loop, since: baseline, patience: uploads.settings.tusWait, isBounded: dialect == .tus,
      isRepeatable: uploads.delivery == .atLeastOnce, isMoved: { [weak self] in self?.isMoved($0) ?? false })
    guard did(state.waits(wait), "waits") else { return }
    wait.start(
      keepAlive: { [weak self] in self?.keepAlive() }, then: { [weak self] in self?.waited($0) })
    // Its delivery waits for the new process, or for the end of a hand-over that failed.
    if loop.isHandingOver { endEarly() }
  }

  private func keepAlive() {
    guard let upload, request.head.version.takesInterim,
      let head = UploadReplies.keepAlive(dialect, offset: upload.status.offset)
    else { return }
    channel.interim(head)
  }

  private func waited(_ outcome: ResponseWait.Outcome) {
    switch outcome {
    case .answered(let answer): mayHaveAnswer ? give(answer, consumed: true) : refuse(.answerIsAnothers)
    case .refused(let answer): give(answer, consumed: false)
    case .undecided: replyUndecided()
    case .moved: tellMoved()
    case .unknown: refuse(.outcomeUnknown)
    case .mismatch: refuse(.digestMismatch)
    case .lost: refuse(.gone)
    }
  }

  /// Whether this client may have the origin's response: if the upload has no owner, if `auth-request` has checked the request,
  /// or if the client shows the credentials of the creation or of the delivery.
  ///
  /// A JWT that merely claims the same user is enough for appends, because the application judges the JWT when it gets the bytes.
  /// Such a JWT is not enough here, because the application gets no further request that it could judge.
  var mayHaveAnswer: Bool {
    guard let upload, !upload.origin.owner.isEmpty, request.route.authRequest == nil else { return true }
    return Owner.isKnown(request, among: upload.askers)
  }

  /// Sends the origin's response in the form of the upload protocol; the request that created the upload also gets the upload's
  /// URL.
  func give(_ answer: UploadAnswer, consumed: Bool) {
    let origin = ResponseHead(status: answer.status, reason: answer.reason[...], fields: answer.fields)
    let (shaped, keepsBody) = UploadReplies.answer(
      origin, dialect, total: status?.offset ?? 0, location: isCreation ? location : nil, consumed: consumed,
      target: upload?.origin.head.target)
    let head = isCreation ? shaped : sandboxed(shaped)
    let told = consumed ? State.Told.originAnswer : .other
    guard keepsBody else { return respond(head, MemoryBody([]), length: .known(0), as: told) }
    give(answer, under: head, as: told)
  }

  /// Responds to a GET in tus with the origin's response, its status and content unchanged.
  func giveAsItWas(_ answer: UploadAnswer) {
    var head = ResponseHead(status: answer.status, reason: answer.reason[...], fields: answer.fields)
    if let upload { RelativeReferences.anchor(&head.fields, at: upload.origin.head.target) }
    head.fields.set(.tusResumable, "1.0.0")
    seal(&head)
    give(answer, under: sandboxed(head), as: .originAnswer)
  }

  /// Adds `Content-Security-Policy: sandbox`. The content depends on what one user uploaded, so a browser must not run it as a
  /// page of the site.
  private func sandboxed(_ head: ResponseHead) -> ResponseHead {
    var head = head
    head.fields.append(named: Bytes("Content-Security-Policy"), Bytes("sandbox"))
    return head
  }

  private static let lostContent = "content longer than response-max, or broken off by the origin, is not kept"
  /// The reason in the log when the client gets only the beginning of a response.
  static let notWhole = BodyEnd(party: .pawl, reason: "answer-not-whole")

  /// Sends the content of the origin's response. Content longer than `response-max` is available for a short time only. If the
  /// content is incomplete, the client gets its beginning, and sees that the rest is missing. The status still says what became
  /// of the upload.
  private func give(_ answer: UploadAnswer, under head: ResponseHead, as told: State.Told) {
    guard answer.isTruncated else {
      return respond(head, MemoryBody(answer.body), length: .known(UInt64(answer.body.count)), as: told)
    }
    var head = head
    head.fields.removeAll(.contentLength)
    let spilled = upload.flatMap { DeliveryAttempt.oversizedResponse(of: $0, in: deliveries) }
    if let spilled, spilled.isWhole { return respond(head, spilled.body, length: .known(spilled.count), as: told) }
    head.fields.append(.proxyStatus, "pawl; details=\"\(Self.lostContent)\"")
    let announced = answer.fields.only(.contentLength)?.strictDecimal.map(ContentLength.known)
    let body = CutBody(spilled?.body ?? MemoryBody(answer.body), Self.notWhole) { [weak self] in self?.gaveBeginning() }
    respond(head, body, length: announced ?? .unknown, as: told)
  }

  /// Records the response as delivered, although its content was cut. The rest does not exist, and clients of some draft versions
  /// ask again until a response is recorded as delivered.
  private func gaveBeginning() {
    if state.answerSent() == .noteDelivered, !channel.hasClientEnded { upload?.noteAnswerDelivered() }
  }

  /// Responds while the outcome is not known. After an error, a tus client would repeat the creation. So a creation in tus gets
  /// 201 with the upload's URL, and the client asks there later. A concatenation may get an error: if repeated, it is recognised
  /// as the same upload.
  func replyUndecided() {
    guard let status, isCreation, !status.isConcatFinal else {
      return refuse(.undecided(retryAfter: Self.undecidedRetry))
    }
    var answer =
      dialect == .tus
      ? UploadReplies.created(dialect, location: location, status, limits)
      : refusalReply(.undecided(retryAfter: Self.undecidedRetry))
    if dialect == .tus { answer.head.fields.removeAll(.uploadOffset) }
    answer.head.fields.set(.location, location)
    reply(answer)
  }
}
