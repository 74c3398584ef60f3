import PawlCache
import PawlConfig
import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// A request that makes an upload (protocols 1.4; tus 1.0.0, creation and concatenation).
extension UploadExchange {
  func begin(_ creation: UploadCreation) {
    guard !OriginRequests.isLoop(request.head.fields) else {
      return channel.fail(request, ProxyError(.proxyLoopDetected))
    }
    ask(about: nil) { [weak self] allowed in
      guard let self else { return }
      // Parts that are here are nothing for an origin, whatever it speaks.
      if case .final(let urls)? = creation.concat, urls.contains(where: { self.loop.router.findPart($0) != nil }) {
        return self.make(creation, allowed)
      }
      self.leave(toOriginOr: { $0.make(creation, allowed) })
    }
  }

  /// What pawl does not understand, an origin that does all this itself may.
  func beginRefused(_ refusal: UploadRefusal) {
    guard !request.isBelowPrefix else { return refuse(refusal) }
    leave(toOriginOr: { $0.refuse(refusal) })
  }

  /// Passes the request on where the origin speaks its protocol itself. A tus upload that an origin of tus did not make
  /// is none for it: while nobody knows, none is made.
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

  /// Seconds after which a client asks again whether there is an upload to be made.
  private static let silenceRetry = 5

  /// The origin does all this itself: nothing of the request is touched.
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

  // MARK: - Making it

  private func make(_ creation: UploadCreation, _ allowed: Fields) {
    guard let uploads else { return refuse(.notFound) }
    sizeLimit = limits.maxSize
    let known = creation.length ?? (creation.hasContent ? creation.contentLength : nil)
    if let sizeLimit, let known, known > sizeLimit { return refuse(.tooLarge) }
    let origin = origin(of: creation, allowed)
    if case .final(let urls)? = creation.concat { return concatenate(urls, origin, allowed, in: uploads) }
    let token = UploadNames.makeToken()
    address = .made(token)
    // Where it ends is in its first record: to be said while it is written, it would take one more.
    let end = creation.completes && headTellsEnd ? creation.length ?? creation.contentLength : nil
    // Nothing but the answer tells of an upload that is made without content.
    uploads.store.create(
      UploadNames.id(token), origin, length: creation.length, finalAt: end,
      durably: !creation.hasContent, on: loop.loop
    ) { [self] in made($0) { [self] in begun(creation) } }
  }

  /// - Parameter allowed: what the application answered to `auth-request`.
  private func origin(of creation: UploadCreation, _ allowed: Fields) -> UploadOrigin {
    var head = request.head
    OriginRequests.removeReferer(&head.fields, loop.router.urls)
    if !head.fields.contains(.xRequestID) { head.fields.append(.xRequestID, request.requestID) }
    let owner = Owner.ofUpload(request, allowed: allowed)
    // An owner that only the client claims would be as many clients as it likes.
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

  /// Nobody was told of it.
  private func forget() { upload?.remove(on: loop.loop) { _ in } }

  private func begun(_ creation: UploadCreation) {
    let isEmpty = creation.length == 0 && completesAtLength
    guard creation.hasContent || creation.completes || isEmpty else { return replyStored() }
    let loop = loop.loop
    // The URL is told by whoever holds the upload already: what comes by it is newer, and takes over.
    upload?.takeOver(on: loop, displaced: { [weak self] in self?.displaced() }) { [self] writer in
      guard state.isPreparing else { return writer.detach() }
      self.writer = writer
      announce()
      expectEnd(told: creation.length ?? creation.contentLength, length: creation.length)
      receive(creation.digests)
    }
  }

  /// The URL, before the first byte of content is read.
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

  /// The same parts joined again, because the first answer got lost, are the same upload.
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
        // Another request was faster with the same parts, or one of them was removed.
        if let upload = store.find(UploadNames.id(token)), isOurs(upload, origin, allowed) {
          self.upload = upload
          return awaitAnswer()
        }
        if parts.contains(where: { $0.status.phase != .open }) { return refuse(Self.missingPart) }
      }
      joined(result)
    }
  }

  /// Whether whoever joined the parts before is who joins them now.
  private func isOurs(_ upload: SpooledUpload, _ origin: UploadOrigin, _ allowed: Fields) -> Bool {
    let binding = upload.origin.owner
    return binding == origin.owner || (!binding.isEmpty && Owner.owns(binding, request, allowed: allowed))
  }

  /// What was joined goes to the application though its client may have left meanwhile: who comes again finds it, and
  /// joining it once more would take as long.
  private func joined(_ result: Result<SpooledUpload, UploadStoreRefusal>) {
    guard case .success(let whole) = result else { return made(result) {} }
    upload = whole
    note("upload-created")
    deliver()
    if state.isPreparing { awaitAnswer() }
  }

  // MARK: - A client that leaves

  /// Before its content could be taken. What is here of it counts all the same, if the client can come back for it.
  func leftEarly() {
    if isLocationTold, upload != nil, !pending.isEmpty || trailers != nil { return }
    forgetUnheard()
    letGo()
  }

  private var isLocationTold: Bool { if case .told = address { true } else { false } }

  /// Nobody can come back to an upload whose URL was never told.
  func forgetUnheard() {
    if !isLocationTold, upload != nil { forget() }
  }
}

extension UploadRefusal {
  /// What a client is told of the spool's no.
  init(_ refusal: UploadStoreRefusal) {
    switch refusal {
    case .full: self = .noSpace(retryAfter: 60)
    case .tooLarge: self = .tooLarge
    case .tooManyUploads, .clientShare: self = .tooManyUploads(retryAfter: 60)
    case .failed: self = .storage
    }
  }
}
