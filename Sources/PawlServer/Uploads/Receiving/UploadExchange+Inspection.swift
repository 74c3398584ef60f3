import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// HEAD, GET, DELETE and OPTIONS on an upload's URL (protocols 1.5, 1.7, 9.3).
extension UploadExchange {
  /// How far the upload is. The offset will be held to: whoever still writes is ended first.
  func inspect() {
    guard let status else { return refuse(.notFound) }
    switch status.phase {
    case .open: hold(readOnly: true) { [self] in tell() }
    case .answered where request.head.method == .get && dialect != .tus: replay()
    case .complete, .forwarding, .sent, .answered, .unknown, .invalid, .removed: tell()
    }
  }

  private func tell() {
    guard let status else { return refuse(.notFound) }
    switch status.phase {
    case .complete, .forwarding, .sent:
      if dialect == .tus { beginUndecided() } else { reply(UploadReplies.status(dialect, status, limits)) }
    case .open, .answered, .unknown, .invalid, .removed: reply(UploadReplies.status(dialect, status, limits))
    }
  }

  /// The origin's answer once more.
  private func replay() {
    guard mayHaveAnswer else { return refuse(.answerIsAnothers) }
    loadAnswer { [self] in give($0, consumed: true) }
  }

  /// One that is not in memory any more takes a thread some milliseconds.
  private func loadAnswer(_ then: @escaping (UploadAnswer) -> Void) {
    upload?.loadAnswer(on: loop.loop) { [self] answer in
      if let answer { then(answer) } else { refuse(.gone) }
    }
  }

  /// tus: what the origin said, as it said it.
  func readAnswer() {
    guard let upload else { return refuse(.notFound) }
    switch upload.status.phase {
    case .answered: mayHaveAnswer ? loadAnswer { [self] in giveAsItWas($0) } : refuse(.answerIsAnothers)
    case .open where completesAtLength && upload.status.length == upload.status.offset:
      refuse(.undecided(retryAfter: Self.undecidedRetry))
    case .open: refuse(.notFound)
    case .complete, .forwarding, .sent: beginUndecided()
    case .unknown: refuse(.outcomeUnknown)
    case .invalid, .removed: refuse(.gone)
    }
  }

  func cancel() {
    guard let upload else { return refuse(.notFound) }
    // What nobody knows the end of is the operator's to drop.
    guard upload.status.phase != .unknown else { return refuse(.outcomeUnknown) }
    guard upload.status.phase == .open else { return remove() }
    hold(readOnly: true, completing: false) { [self] in remove() }
  }

  private func remove() {
    dropWriter()
    upload?.remove(on: loop.loop) { [self] isRemoved in
      // What is being sent cannot be called back.
      guard isRemoved else { return refuse(.undecided(retryAfter: Self.undecidedRetry)) }
      reply(UploadReplies.cancelled(dialect))
    }
  }

  /// Anyone may ask what is possible here: a browser does before it sends who asks.
  func answerOptions(_ token: UploadToken?) {
    let asked = loop.router.findUpload(
      token.map(UploadNames.id), authority: request.head.authority, near: request.route)
    if case .found(_, let route) = asked { request.route = route }
    var head = OptionsAnswer.own(request)
    head.fields.set(.allow, "HEAD, GET, PATCH, DELETE, POST, OPTIONS")
    reply(UploadReply(head))
  }
}
