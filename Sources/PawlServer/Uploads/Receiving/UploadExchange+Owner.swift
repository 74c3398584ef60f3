import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// Checks that a request comes from the upload's owner, and keeps the credentials for the delivery.
extension UploadExchange {
  /// Finds the upload for its owner; any other client gets 404.
  func find(_ token: UploadToken?, then: @escaping () -> Void) {
    guard let token else { return refuse(.notFound) }
    let (router, id) = (loop.router, UploadNames.id(token))
    switch router.findUpload(id, authority: request.head.authority, near: request.route) {
    case .none: refuse(.notFound)
    case .tombstone: refuse(.gone)
    case .found(let upload, let route):
      request.route = route
      ask(ofUpload: upload) { [weak self] fields in
        guard let self, self.state.isPreparing else { return }
        guard Owner.owns(upload.origin.owner, self.request, allowed: fields) else { return self.refuse(.notFound) }
        (self.upload, self.address) = (upload, .told(token))
        self.takeCredentials()
        then()
      }
    }
  }

  /// Asks `auth-request` when the check of the owner needs its response. There are three such cases: the route's `owner` names a
  /// field of this response; a rule that was removed from `owner` may have named one; or the request shows a token that the
  /// application has not seen with this upload.
  private func ask(ofUpload upload: SpooledUpload, then: @escaping (Fields) -> Void) {
    let binding = upload.origin.owner
    guard !binding.isEmpty else { return then(Fields()) }
    if Owner.mayNeedAuthRequest(binding, request) {
      // A client that is refused here is not the owner, so it must not learn that the upload exists.
      return ask(about: upload.origin.head, refused: { [weak self] in self?.refuse(.notFound) }, then: then)
    }
    guard Owner.needsAuthRequest(request.route) || !isKnown(of: upload) else { return then(Fields()) }
    ask(about: upload.origin.head, then: then)
  }

  private func isKnown(of upload: SpooledUpload) -> Bool {
    let origin = upload.origin
    let tokens =
      upload.status.phase == .answered
      ? upload.askers : Owner.tokens(origin.owner, creation: origin.head.fields, delivered: upload.credentials)
    return Owner.isKnown(request, among: tokens)
  }

  /// Asks `auth-request`; calls `then` only if the application allows the request.
  /// - Parameters:
  ///   - original: the head of the request that created the upload; `nil`: this request creates the upload.
  ///   - refused: called instead of sending the application's refusal to the client.
  func ask(about original: RequestHead?, refused: (() -> Void)? = nil, then: @escaping (Fields) -> Void) {
    auth = AuthRequest.ask(request, original: original.map { ($0.method, $0.target) }) { [weak self] verdict in
      guard let self, self.state.isPreparing else { return }
      self.auth = nil
      switch verdict {
      case .allowed(let fields): then(fields)
      case .refused where refused != nil: refused?()
      case .refused(let head, let body, let isWhole):
        self.replyRefused(head, body, isWhole: isWhole, isCreation: original == nil)
      case .unavailable:
        var reply = Replies.plain(
          status: 503, sentence: "The application could not be asked whether it takes this upload.")
        reply.head.fields.append(.retryAfter, "5")
        reply.head.fields.append(.proxyStatus, ProxyError(.destinationUnavailable).fieldValue)
        self.reply(UploadReply(reply.head, body: reply.body))
      }
    }
  }

  /// Sends the application's refusal. An existing upload stays as it is, and the response says nothing about it.
  private func replyRefused(_ head: ResponseHead, _ body: [UInt8], isWhole: Bool, isCreation: Bool) {
    var (shaped, _) = UploadReplies.answer(head, dialect, total: 0, location: nil, consumed: isCreation)
    if !isCreation { shaped.fields.removeAll(.uploadOffset) }
    guard !isWhole else { return reply(UploadReply(shaped, body: body)) }
    seal(&shaped)
    respond(shaped, CutBody(MemoryBody(body), Self.notWhole), length: .unknown)
  }

  /// Keeps the request's credentials for the delivery. For an upload without an owner, only the credentials of an append are
  /// kept: a page of another site can make a user's browser send a GET with the user's cookies, but not an append.
  private func takeCredentials() {
    guard let upload else { return }
    if case .resource(_, .append) = question { return refreshCredentials() }
    if !upload.origin.owner.isEmpty { refreshCredentials() }
  }

  /// Keeps for the delivery the last credentials that the owner sent, because tokens expire during long uploads.
  func refreshCredentials() {
    guard let upload else { return }
    let fields = request.head.fields
    guard fields.contains(.authorization) || fields.contains(.cookie) else { return }
    let before = upload.credentials ?? upload.origin.head.fields
    var fresh = Fields()
    var hasChanged = false
    for name in [FieldName.authorization, .cookie] {
      let (old, new) = (before.all(name), fields.all(name))
      for value in new.isEmpty ? old : new { fresh.append(name, value) }
      hasChanged = hasChanged || (!new.isEmpty && new != old)
    }
    hasFreshCredentials = hasChanged
    if hasChanged { upload.refreshCredentials(fresh) }
  }
}
