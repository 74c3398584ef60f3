import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// HEAD, GET, DELETE and OPTIONS on an upload's URL (UploadProtocols, "Offset retrieval", "Discovery and cancellation",
/// "States").
extension UploadExchange {
  /// Responds with the upload's offset. A running append is ended first, because the client relies on the offset.
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

  /// Sends the origin's response again.
  private func replay() {
    guard mayHaveAnswer else { return refuse(.answerIsAnothers) }
    loadAnswer { [self] in give($0, consumed: true) }
  }

  /// Loads the origin's response: from memory, or from the disk, which is read in the pool and takes some milliseconds.
  private func loadAnswer(_ then: @escaping (UploadAnswer) -> Void) {
    upload?.loadAnswer(on: loop.loop) { [self] answer in
      if let answer { then(answer) } else { refuse(.gone) }
    }
  }

  /// Responds to a GET in tus with the origin's response, its status and content unchanged.
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
    // Only the operator may drop an upload whose outcome is unknown.
    guard upload.status.phase != .unknown else { return refuse(.outcomeUnknown) }
    guard upload.status.phase == .open else { return remove() }
    hold(readOnly: true, completing: false) { [self] in remove() }
  }

  private func remove() {
    dropWriter()
    upload?.remove(on: loop.loop) { [self] isRemoved in
      // An upload that is being sent cannot be removed.
      guard isRemoved else { return refuse(.undecided(retryAfter: Self.undecidedRetry)) }
      reply(UploadReplies.cancelled(dialect))
    }
  }

  /// Responds to OPTIONS, without a check of the owner, because a browser's preflight carries no credentials.
  func answerOptions(_ token: UploadToken?) {
    let asked = loop.router.findUpload(
      token.map(UploadNames.id), authority: request.head.authority, near: request.route)
    if case .found(_, let route) = asked { request.route = route }
    var head = OptionsAnswer.own(request)
    head.fields.set(.allow, "HEAD, GET, PATCH, DELETE, POST, OPTIONS")
    reply(UploadReply(head))
  }
}
