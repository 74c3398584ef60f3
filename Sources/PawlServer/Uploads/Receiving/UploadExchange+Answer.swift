import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// The origin's answer, for whom it is.
extension UploadExchange {
  /// Sees to it that somebody forwards the upload.
  func deliver() {
    guard let upload else { return }
    baseline = upload.lastRefusal?.attempt ?? 0
    DeliveryAttempt.deliver(upload, route: request.route, on: deliveries)
  }

  /// Waits with the client, whose connection is kept alive where the protocol has means for that.
  func awaitAnswer() {
    guard let upload, let uploads else { return refuse(.storage) }
    dropWriter()
    let wait = AnswerWait(
      upload, on: loop.loop, since: baseline, patience: uploads.settings.tusWait, isBounded: dialect == .tus,
      isRepeatable: uploads.delivery == .atLeastOnce)
    guard did(state.waits(wait), "waits") else { return }
    wait.start(
      keepAlive: { [weak self] in self?.keepAlive() }, then: { [weak self] in self?.waited($0) })
  }

  private func keepAlive() {
    guard let upload, request.head.version.takesInterim,
      let head = UploadReplies.keepAlive(dialect, offset: upload.status.offset)
    else { return }
    channel.interim(head)
  }

  private func waited(_ outcome: AnswerWait.Outcome) {
    switch outcome {
    case .answered(let answer): mayHaveAnswer ? give(answer, consumed: true) : refuse(.answerIsAnothers)
    case .refused(let answer): give(answer, consumed: false)
    case .undecided: replyUndecided()
    case .unknown: refuse(.outcomeUnknown)
    case .mismatch: refuse(.digestMismatch)
    case .lost: refuse(.gone)
    }
  }

  /// The answer is for who created the upload, or brought the credentials that it was delivered with. A token that only says it
  /// is the same user's may go on with the upload, since the application gets to judge it then; here nobody does any more,
  /// unless it was asked about (`auth-request`).
  var mayHaveAnswer: Bool {
    guard let upload, !upload.origin.owner.isEmpty, request.route.authRequest == nil else { return true }
    return Owner.isKnown(request, among: upload.askers)
  }

  /// The origin's answer in the shape of the protocol, with the upload's URL on the request that made it.
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

  /// The answer as the origin gave it, to whom reads it by GET in tus.
  func giveAsItWas(_ answer: UploadAnswer) {
    var head = ResponseHead(status: answer.status, reason: answer.reason[...], fields: answer.fields)
    if let upload { RelativeReferences.anchor(&head.fields, at: upload.origin.head.target) }
    head.fields.set(.tusResumable, "1.0.0")
    seal(&head)
    give(answer, under: sandboxed(head), as: .originAnswer)
  }

  /// Content that one user has made the origin say, under a URL of the site: no browser runs it as the site's own page.
  private func sandboxed(_ head: ResponseHead) -> ResponseHead {
    var head = head
    head.fields.append(named: Bytes("Content-Security-Policy"), Bytes("sandbox"))
    return head
  }

  private static let lostContent = "content longer than response-max, or broken off by the origin, is not kept"
  /// Why an answer is cut that pawl has the beginning of.
  static let notWhole = BodyEnd(party: .pawl, reason: "answer-not-whole")

  /// A body longer than is kept is there for who waited for it. Of what is not whole, whoever asks gets the beginning that
  /// there is, and sees that it was cut: by its status the upload is settled.
  private func give(_ answer: UploadAnswer, under head: ResponseHead, as told: State.Told) {
    guard answer.isTruncated else {
      return respond(head, MemoryBody(answer.body), length: .known(UInt64(answer.body.count)), as: told)
    }
    var head = head
    head.fields.removeAll(.contentLength)
    let spilled = upload.flatMap { DeliveryAttempt.spilledAnswer(of: $0, in: deliveries) }
    if let spilled, spilled.isWhole { return respond(head, spilled.body, length: .known(spilled.count), as: told) }
    head.fields.append(.proxyStatus, "pawl; details=\"\(Self.lostContent)\"")
    let announced = answer.fields.only(.contentLength)?.strictDecimal.map(ContentLength.known)
    let body = CutBody(spilled?.body ?? MemoryBody(answer.body), Self.notWhole) { [weak self] in self?.gaveBeginning() }
    respond(head, body, length: announced ?? .unknown, as: told)
  }

  /// More of the answer nobody will ever get: for versions that ask until they have had one, this was it.
  private func gaveBeginning() {
    if state.answerSent() == .noteDelivered, !channel.hasClientEnded { upload?.noteAnswerDelivered() }
  }

  /// The origin could not be asked so far. A creation that is answered with an error would be sent once more: in tus it is
  /// told where the upload is, and asks there. A concatenation that comes again is the same one.
  private func replyUndecided() {
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
