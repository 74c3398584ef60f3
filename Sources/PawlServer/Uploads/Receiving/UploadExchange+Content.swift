import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// Writes the request's content into the spool, and decides what the end of the content means.
extension UploadExchange {
  /// The number of unsynced bytes at which pawl stops reading from the client; reading goes on at ``lowWater``.
  private static let highWater: UInt64 = 32 << 20
  private static let lowWater: UInt64 = 16 << 20
  /// The least time between two interim responses that report the durable offset.
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
    if state.isClientGone { leftInContent() } else if isReplacedOrEnding { endEarly() }
  }

  private var expectsContinue: Bool {
    request.head.fields.first(.expect)?.trimmed.equalsIgnoringCase("100-continue") ?? false
  }

  /// Writes the content that waits, then reads on or ends.
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

  /// Writes a piece of content. `false`: the caller has to wait before it passes more bytes.
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

  /// Writes in the pool, because the disk is slow. So this upload waits for the disk, but the loop does not.
  /// - Returns: `false` when the pool has stopped.
  private func writeInPool(_ bytes: [UInt8], _ writer: UploadWriter) -> Bool {
    let isBegun = writer.writeInPool(bytes) { [self] result in
      loop.noteWrite(writer.took)
      guard did(state.written(), "written") else { return }
      _ = bytes.withUnsafeBytes { wasWritten($0, result) }
      if isReplacedOrEnding, trailers == nil, !state.isClientGone { return endEarly() }
      // Handle the content, and possibly its end, that came during the write.
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

  /// Stops reading until what was written has been synced.
  private func pause() {
    guard did(state.syncs(), "syncs") else { return }
    upload?.sync(on: loop.loop) { [weak self] result in
      guard let self, self.state.isReceiving else { return }
      if case .failure = result { self.paused(.storage) } else { self.stored() }
    }
  }

  /// Refuses the rest of the content. The upload keeps its durable offset, and the client can resume later.
  private func paused(_ refusal: UploadRefusal) {
    if case .noSpace = refusal { loop.shared.failures.noteUpload(UploadStoreRefusal.full.why, request) }
    guard check == nil else { return spoiled(refusal) }
    stopTaking()
    upload?.sync(on: loop.loop) { [self] _ in refuse(refusal) }
  }

  /// Discards content that came with a digest and was not verified. None of these bytes count.
  func spoiled(_ refusal: UploadRefusal) {
    writer?.discard()
    writer = nil
    afterStoring { [self] in refuse(refusal) }
    stopTaking()
  }

  /// Takes no more content, because the response is being prepared.
  func stopTaking() {
    observation?.cancel()
    observation = nil
    _ = did(state.stopsTaking(), "stops-taking")
  }

  /// Called when bytes became durable: reads on, and reports progress to the client.
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
    // Verified content counts from here on, unless a newer request has already taken the upload over.
    if check != nil, writer?.accept() != true { return displaced() }
    let claims = lateClaims(trailers)
    guard claims.isEmpty else { return verify(claims) { [self] in contentCounts() } }
    contentCounts()
  }

  private func contentCounts() {
    isFinished ? finish() : afterStoring { [self] in replyStored() }
  }

  /// Whether the upload is complete with the bytes that are here. In tus and some draft versions, an upload is complete when its
  /// length is reached. In all draft versions, an upload is complete after a request with `Upload-Complete: ?1`; a declared
  /// length then has to equal the offset.
  private var isFinished: Bool {
    guard let upload, let writer else { return false }
    return completes || completesAtLength && upload.status.length == writer.offset
  }

  /// Whether the upload is complete as soon as its length is reached.
  var completesAtLength: Bool {
    guard upload?.origin.concatenation != .partial else { return false }
    return version?.completesAtLength ?? true
  }

  /// Whether the head says where the content ends. Chunked content without its last chunk is incomplete, however many bytes have
  /// come (RFC 9112 §7.1).
  var headTellsEnd: Bool { request.head.framing != .chunked }

  /// Announces the end of the upload to the writer, if the end is known in advance. Then the upload is complete as soon as its
  /// last byte is here, even if pawl crashes right after that.
  /// - Parameter told: the offset in the upload at which this request's content ends, according to the request's own fields.
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
      // Another request with the same bytes may have completed the upload first.
      guard isComplete || (upload.status.phase.isComplete && upload.status.length == total) else {
        return refuse(upload.status.phase.isOver ? .gone : .storage)
      }
      deliver()
      // A request that took the upload over meanwhile waits for the response now.
      guard state.isStoring else { return }
      state.isClientGone ? letGo() : awaitAnswer()
    }
    dropWriter()
  }

  /// Responds that the content is durable, and that the upload still needs more content.
  func replyStored() {
    guard let status else { return refuse(.storage) }
    reply(
      isCreation
        ? UploadReplies.created(dialect, location: location, status, limits)
        : UploadReplies.appended(dialect, status, limits))
  }

  // MARK: - A client that leaves

  /// Handles a client that leaves before the end of its content. The bytes that arrived count, unless they came with a digest. If
  /// they are certainly all bytes of the upload, the upload is complete, although the end of the content was not read.
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
  /// Whether the upload is invalid or removed.
  fileprivate var isOver: Bool { self == .invalid || self == .removed }

  /// Whether all bytes are here, so that only the delivery decides what becomes of the upload.
  fileprivate var isComplete: Bool {
    switch self {
    case .complete, .forwarding, .sent, .answered, .unknown: true
    case .open, .invalid, .removed: false
    }
  }
}
