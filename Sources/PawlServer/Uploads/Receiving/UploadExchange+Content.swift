import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// Content on its way into the spool, and what its end means.
extension UploadExchange {
  /// Bytes that may wait to be synced before the client has to wait.
  private static let highWater: UInt64 = 32 << 20
  private static let lowWater: UInt64 = 16 << 20
  /// Clients are told of progress no more often.
  private static let progressInterval = Duration.seconds(1)

  func receive(_ digests: RequestDigests) {
    guard let check = DigestCheck(digests, dialect), let writer else { return open() }
    self.check = check
    writer.beginVerified { [self] isRecorded in
      guard state.isPreparing else { return }
      if isRecorded { return open() }
      self.writer?.isCurrent == true ? refuse(.storage) : displaced()
    }
  }

  private func open() {
    guard did(state.opens(), "opens") else { return }
    toldOffset = writer?.offset ?? 0
    contentStart = toldOffset
    let loop = loop.loop
    observation = upload?.observe(on: loop) { [weak self] in self?.stored() }
    if trailers == nil, request.head.version.takesInterim, expectsContinue {
      channel.interim(ResponseHead(status: 100, reason: Bytes("Continue")))
    }
    drainPending()
    if state.isClientGone { leftInContent() }
  }

  private var expectsContinue: Bool {
    request.head.fields.first(.expect)?.trimmed.equalsIgnoringCase("100-continue") ?? false
  }

  /// What came too early, then what comes.
  func drainPending() {
    takePending()
    guard state.mayWrite else { return }
    if let trailers { contentEnded(trailers) } else if state.mayRead { channel.resumeRequestBody() }
  }

  private func takePending() {
    while state.mayWrite, let (bytes, range) = pending.next(limit: .max) {
      _ = bytes.withUnsafeBytes { take(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
  }

  /// `false`: no more until what is written has been synced.
  func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let writer else { return true }
    if let sizeLimit, UInt64(bytes.count) > sizeLimit - min(sizeLimit, writer.offset) {
      stopTaking()
      afterStoring { [self] in refuse(.tooLarge) }
      return true
    }
    if loop.expectsSlowWrites, writeInPool(Array(bytes), writer) { return false }
    let result = writer.write(bytes)
    loop.noteWrite(writer.took)
    return wasWritten(bytes, result)
  }

  /// Where the disk does not follow: the loop goes on, this upload waits.
  /// - Returns: `false` when the pool has stopped.
  private func writeInPool(_ bytes: [UInt8], _ writer: UploadWriter) -> Bool {
    let isBegun = writer.writeInPool(bytes) { [self] result in
      loop.noteWrite(writer.took)
      guard did(state.written(), "written") else { return }
      _ = bytes.withUnsafeBytes { wasWritten($0, result) }
      // What came meanwhile, and what came to its end.
      drainPending()
      if state.isClientGone { leftInContent() }
    }
    if isBegun { _ = did(state.writes(), "writes") }
    return isBegun
  }

  private func wasWritten(_ bytes: UnsafeRawBufferPointer, _ result: UploadWriteResult) -> Bool {
    switch result {
    case .written(let unsynced):
      check?.update(bytes)
      guard unsynced >= Self.highWater else { return true }
      pause()
      return false
    case .displaced: displaced()
    case .tooLong: check == nil ? exceeded(from: max(contentStart, toldOffset)) : spoiled(.tooLong)
    case .full: paused(.noSpace(retryAfter: 60))
    case .failed: paused(.storage)
    }
    return true
  }

  /// Until the disk has what was written.
  private func pause() {
    guard did(state.syncs(), "syncs") else { return }
    upload?.sync(on: loop.loop) { [weak self] result in
      guard let self, self.state.isReceiving else { return }
      if case .failure = result { self.paused(.storage) } else { self.stored() }
    }
  }

  /// The upload stays at its offset; the client comes back later.
  private func paused(_ refusal: UploadRefusal) {
    if case .noSpace = refusal { loop.shared.failures.noteUpload(UploadStoreRefusal.full.why, request) }
    guard check == nil else { return spoiled(refusal) }
    stopTaking()
    upload?.sync(on: loop.loop) { [self] _ in refuse(refusal) }
  }

  /// Content that was to be verified and will not be: none of it counts.
  private func spoiled(_ refusal: UploadRefusal) {
    writer?.discard()
    writer = nil
    afterStoring { [self] in refuse(refusal) }
    stopTaking()
  }

  /// The rest of the content is not wanted, and the answer is being made.
  func stopTaking() {
    observation?.cancel()
    observation = nil
    _ = did(state.stopsTaking(), "stops-taking")
  }

  /// Something became durable.
  private func stored() {
    guard state.isReceiving, let upload else { return }
    let durable = upload.status.offset
    if state.isSyncing, writer?.unsynced ?? 0 <= Self.lowWater, did(state.synced(), "synced") {
      if state.mayRead { channel.resumeRequestBody() }
    }
    guard let version, check == nil, durable > toldOffset, request.head.version.takesInterim else { return }
    let now = loop.loop.now
    if let toldAt, now - toldAt < Self.progressInterval { return }
    guard let head = UploadReplies.progress(version, offset: durable) else { return }
    (toldOffset, toldAt) = (durable, now)
    channel.interim(head)
  }

  // MARK: - The end of the content

  private func contentEnded(_ trailers: Fields) {
    stopTaking()
    if let refusal = check?.verdict(trailers) { return spoiled(refusal) }
    // Not its last byte, but this makes the content count: it may be too late for that.
    if check != nil, writer?.accept() != true { return displaced() }
    let claims = lateClaims(trailers)
    guard claims.isEmpty else { return verify(claims) { [self] in contentCounts() } }
    contentCounts()
  }

  private func contentCounts() {
    isFinished ? finish() : afterStoring { [self] in replyStored() }
  }

  /// Whether the upload is complete with what is here. tus, and some versions: where its length is reached. IETF: by `?1`;
  /// a length that was declared has to agree.
  private var isFinished: Bool {
    guard let upload, let writer else { return false }
    return completes || completesAtLength && upload.status.length == writer.offset
  }

  /// Whether nothing but its length says that the upload is complete.
  var completesAtLength: Bool {
    guard upload?.origin.concatenation != .partial else { return false }
    return version?.completesAtLength ?? true
  }

  /// Whether the head says where the content ends. A chunked body does with its last chunk only: without that it is not all
  /// there, however many bytes have come (RFC 9112 §7.1).
  var headTellsEnd: Bool { request.head.framing != .chunked }

  /// A crash behind the byte that completes the upload completes it, too, where that byte is known ahead.
  /// - Parameter told: where this request's content ends, by its own words.
  func expectEnd(told: UInt64?, length: UInt64?) {
    if completes, headTellsEnd, let told {
      writer?.expectEnd(at: told)
    } else if completesAtLength, let length {
      writer?.expectEnd(at: length)
    }
  }

  private func finish() {
    guard let upload, let writer else { return refuse(.storage) }
    if let length = upload.status.length, length != writer.offset {
      return afterStoring { [self] in refuse(.inconsistentLength) }
    }
    let total = writer.offset
    upload.complete(on: loop.loop) { [self] isComplete in
      // Another request with the same bytes may have been faster.
      guard isComplete || (upload.status.phase.isComplete && upload.status.length == total) else {
        return refuse(upload.status.phase.isOver ? .gone : .storage)
      }
      deliver()
      // Who took the upload over meanwhile waits now.
      guard state.isStoring else { return }
      state.isClientGone ? letGo() : awaitAnswer()
    }
    dropWriter()
  }

  /// The content is durable, and more has to come.
  func replyStored() {
    guard let status else { return refuse(.storage) }
    reply(
      isCreation
        ? UploadReplies.created(dialect, location: location, status, limits)
        : UploadReplies.appended(dialect, status, limits))
  }

  // MARK: - A client that leaves

  /// What arrived counts; if it is provably all there is, the upload is complete although its end was not read.
  func leftInContent() {
    takePending()
    guard state.mayWrite else { return }
    if check != nil {
      writer?.discard()
      writer = nil
      forgetUnheard()
      return letGo()
    }
    let isWhole = upload?.status.length == writer?.offset && writer != nil
    if isWhole, completesAtLength || completes && headTellsEnd {
      stopTaking()
      return finish()
    }
    forgetUnheard()
    letGo()
    upload?.sync(on: loop.loop) { _ in }
  }
}

extension UploadPhase {
  /// Cancelled or refused.
  fileprivate var isOver: Bool { self == .invalid || self == .removed }

  /// All bytes are here, and the origin's to judge.
  fileprivate var isComplete: Bool {
    switch self {
    case .complete, .forwarding, .sent, .answered, .unknown: true
    case .open, .invalid, .removed: false
    }
  }
}
