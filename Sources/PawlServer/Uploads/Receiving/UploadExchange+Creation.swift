import PawlCache
import PawlConfig
import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// Requests that create an upload (UploadProtocols, "Creation"; tus 1.0.0, creation and concatenation).
extension UploadExchange {
  func begin(_ creation: UploadCreation) {
    guard !OriginRequests.isLoop(request.head.fields) else {
      return channel.fail(request, ProxyError(.proxyLoopDetected))
    }
    ask(about: nil) { [weak self] allowed in
      guard let self else { return }
      // The origin cannot join parts that are stored here, whatever protocol it speaks.
      if case .final(let urls)? = creation.concat, urls.contains(where: { self.loop.router.findPart($0) != nil }) {
        return self.make(creation, allowed)
      }
      self.leave(toOriginOr: { $0.make(creation, allowed) })
    }
  }

  /// Handles a creation that pawl would refuse. If the origin speaks the protocol itself, the request is passed on, because the
  /// origin may accept it.
  func beginRefused(_ refusal: UploadRefusal) {
    guard !request.isBelowPrefix else { return refuse(refusal) }
    leave(toOriginOr: { $0.refuse(refusal) })
  }

  /// Passes the request on if the origin speaks the request's upload protocol itself; else calls `take`. While it is not known
  /// whether the origin speaks tus, pawl creates no upload: an origin that speaks tus would not know this upload.
  private func leave(toOriginOr take: @escaping (UploadExchange) -> Void) {
    OriginProbe.speaks(dialect, request, on: deliveries) { [weak self] speaks in
      guard let self, self.state.isPreparing else { return }
      switch speaks {
      case true?: self.passOn()
      case false?: take(self)
      case nil: self.refuse(.originSilent(retryAfter: Self.silenceRetry))
      }
    }
  }

  /// The `Retry-After` while the origin does not respond to the probe, in seconds.
  private static let silenceRetry = 5

  /// Passes the request on unchanged to an origin that speaks the protocol itself.
  private func passOn() {
    let forward = ForwardExchange(request, channel: channel, why: .method, isStream: true)
    guard did(state.passesOn(forward), "passes-on") else { return }
    forward.start()
    while let (bytes, range) = pending.next(limit: .max) {
      let goOn = bytes.withUnsafeBytes { forward.requestBody(UnsafeRawBufferPointer(rebasing: $0[range])) }
      if goOn, trailers == nil { channel.resumeRequestBody() }
    }
    if let trailers, request.head.framing != .none { forward.requestBodyEnded(trailers) }
  }

  /// Answers a creation that comes when a new process takes over the spool. If the request completes the upload, its content goes
  /// straight on to the application, as that of an ordinary request. Otherwise the client comes again.
  private func late(_ creation: UploadCreation) {
    guard creation.completes else { return refuse(.ending) }
    request.hidesUploadFields = true
    passOn()
  }

  // MARK: - Making it

  private func make(_ creation: UploadCreation, _ allowed: Fields) {
    guard let uploads else { return refuse(.notFound) }
    guard !loop.isHandingOver else { return late(creation) }
    sizeLimit = limits.maxSize
    let known = creation.length ?? (creation.hasContent ? creation.contentLength : nil)
    if let sizeLimit, let known, known > sizeLimit { return refuse(.tooLarge) }
    let origin = origin(of: creation, allowed)
    if case .final(let urls)? = creation.concat { return concatenate(urls, origin, allowed, in: uploads) }
    let token = UploadNames.makeToken()
    address = .made(token)
    // The first record of the upload includes its end, because adding the end later would need another record.
    let end = creation.completes && headTellsEnd ? creation.length ?? creation.contentLength : nil
    // If the request has no content, the client gets the upload's URL only with the final response. So the upload has to be
    // durable before that response is sent.
    uploads.store.create(
      UploadNames.id(token), origin, length: creation.length, finalAt: end,
      durably: !creation.hasContent, on: loop.loop
    ) { [self] in made($0) { [self] in begun(creation) } }
  }

  /// Returns the facts about the creating request that are stored with the upload.
  /// - Parameter allowed: the fields of the application's response to `auth-request`.
  private func origin(of creation: UploadCreation, _ allowed: Fields) -> UploadOrigin {
    var head = request.head
    OriginRequests.removeReferer(&head.fields, loop.router.urls)
    if !head.fields.contains(.xRequestID) { head.fields.append(.xRequestID, request.requestID) }
    let owner = Owner.ofUpload(request, allowed: allowed)
    // Without `auth-request`, a client could claim any number of owners, and would get a new quota with each owner.
    let isVouchedFor = request.route.authRequest != nil && !owner.isEmpty
    var origin = UploadOrigin(
      head: head, scheme: request.scheme, clientAddress: Array((request.client?.hostText ?? "").utf8),
      peerIsTrusted: request.isTrustedPeer, port: request.port, owner: owner,
      client: isVouchedFor ? UploadClient.name(owner) : UploadClient.name(of: request), isTus: dialect == .tus,
      metadata: creation.metadata?.field,
      concat: creation.concat == nil ? nil : request.head.fields.combined(.uploadConcat).map(Array.init),
      concatenation: concatenation(of: creation), prefix: uploads?.prefix)
    origin.largest = limits.maxSize ?? 0
    return origin
  }

  private func concatenation(of creation: UploadCreation) -> UploadOrigin.Concatenation {
    switch creation.concat {
    case nil: .none
    case .partial: .partial
    case .final: .final
    }
  }

  private func made(_ result: Result<SpooledUpload, UploadStoreRefusal>, _ goOn: () -> Void) {
    switch result {
    case .failure(let refusal):
      loop.shared.failures.noteUpload(refusal.why, request)
      refuse(UploadRefusal(refusal))
    case .success(let made):
      upload = made
      guard state.isPreparing else { return forget() }
      note("upload-created")
      goOn()
    }
  }

  /// Removes the upload, because no client has its URL.
  private func forget() { upload?.remove(on: loop.loop) { _ in } }

  private func begun(_ creation: UploadCreation) {
    let isEmpty = creation.length == 0 && completesAtLength
    guard creation.hasContent || creation.completes || isEmpty else { return replyStored() }
    let loop = loop.loop
    // The client gets the URL only after this request has taken the upload over. So any request to the URL is newer, and may take
    // the upload over from this request.
    upload?.takeOver(on: loop, displaced: { [weak self] in self?.displaced() }) { [self] writer in
      guard state.isPreparing else { return writer.detach() }
      self.writer = writer
      announce()
      expectEnd(told: creation.length ?? creation.contentLength, length: creation.length)
      receive(creation.digests)
    }
  }

  /// Sends the upload's URL in an interim response, before the first byte of content is read.
  private func announce() {
    guard let version, request.head.version.takesInterim,
      let head = UploadReplies.announcement(version, location: location, limits: limits)
    else { return }
    if case .made(let token) = address { address = .told(token) }
    toldAt = loop.loop.now
    channel.interim(head)
  }

  // MARK: - tus concatenation

  private static let missingPart = UploadRefusal.malformed("A part of the final upload does not exist.")

  /// Joins parts to a final upload. A client that lost the response and repeats the request gets the same upload.
  private func concatenate(
    _ urls: [[UInt8]], _ origin: UploadOrigin, _ allowed: Fields, in uploads: UploadRoute
  ) {
    var parts: [SpooledUpload] = []
    for url in urls {
      guard let part = loop.router.findPart(url, near: uploads.store),
        Owner.owns(part.origin.owner, request, allowed: allowed), part.origin.concatenation == .partial
      else { return refuse(Self.missingPart) }
      let status = part.status
      guard status.phase == .open, status.offset == status.length else { return refuse(.unfinishedPart) }
      parts.append(part)
    }
    let total = parts.reduce(UInt64(0)) { $0 + $1.status.offset }
    if let sizeLimit, total > sizeLimit { return refuse(.tooLarge) }
    let asked = Array(request.head.authority) + [0] + Credentials.unknownFields(in: request.head.fields) + [0]
    let secret = urls.flatMap { $0 + [0] } + Array(request.head.target) + [0] + (origin.metadata ?? []) + [0] + asked
    let same = UploadNames.token(from: secret)
    let (store, known) = (uploads.store, loop.router.held.find(UploadNames.id(same), near: uploads.store))
    if case .live(let upload, _) = known, isOurs(upload, origin, allowed) {
      (address, self.upload) = (.made(same), upload)
      refreshCredentials()
      deliver()
      return awaitAnswer()
    }
    let token = if case .none = known { same } else { UploadNames.makeToken() }
    address = .made(token)
    store.concatenate(UploadNames.id(token), origin, parts: parts, on: loop.loop) { [self] result in
      if case .failure(.failed) = result, state.isPreparing {
        // Another request with the same parts has made the upload first, or a part was removed.
        if let upload = store.find(UploadNames.id(token)), isOurs(upload, origin, allowed) {
          self.upload = upload
          return awaitAnswer()
        }
        if parts.contains(where: { $0.status.phase != .open }) { return refuse(Self.missingPart) }
      }
      joined(result)
    }
  }

  /// Whether this request has the same owner as the earlier request that joined the parts.
  private func isOurs(_ upload: SpooledUpload, _ origin: UploadOrigin, _ allowed: Fields) -> Bool {
    let binding = upload.origin.owner
    return binding == origin.owner || (!binding.isEmpty && Owner.owns(binding, request, allowed: allowed))
  }

  /// Delivers the final upload, even if the client has left meanwhile. Joining the parts a second time would take as long as the
  /// first time, and a client that comes back finds this upload.
  private func joined(_ result: Result<SpooledUpload, UploadStoreRefusal>) {
    guard case .success(let whole) = result else { return made(result) {} }
    upload = whole
    note("upload-created")
    deliver()
    if state.isPreparing { awaitAnswer() }
  }

  // MARK: - A client that leaves

  /// Handles a client that leaves before its content could be taken. Content that has arrived still counts, if the client has the
  /// upload's URL.
  func leftEarly() {
    if isLocationTold, upload != nil, !pending.isEmpty || trailers != nil { return }
    forgetUnheard()
    letGo()
  }

  private var isLocationTold: Bool { if case .told = address { true } else { false } }

  /// Removes an upload whose URL was never sent, because no client can come back to this upload.
  func forgetUnheard() {
    if !isLocationTold, upload != nil { forget() }
  }
}

extension UploadRefusal {
  /// Makes the refusal that the client gets if the spool refuses the upload.
  init(_ refusal: UploadStoreRefusal) {
    switch refusal {
    case .full: self = .noSpace(retryAfter: 60)
    case .tooLarge: self = .tooLarge
    case .tooManyUploads, .clientShare: self = .tooManyUploads(retryAfter: 60)
    case .failed: self = .storage
    }
  }
}
