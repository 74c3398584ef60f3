import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// Requests that add to an upload, or complete it (UploadProtocols, "Append"; tus 1.0.0, PATCH).
extension UploadExchange {
  func begin(_ append: UploadAppend) {
    guard let upload else { return refuse(.notFound) }
    guard upload.status.phase == .open else { return beginLate(append) }
    if upload.origin.concatenation == .final { return refuse(.modifiesFinal) }
    hold { [self] in judge(append) }
  }

  /// Takes the upload over from a running request, and calls `then` when all written bytes are durable. Only durable bytes may be
  /// reported to a client, or be the reason of a refusal.
  /// - Parameters:
  ///   - readOnly: whether this request only reads the offset.
  ///   - completing: whether to complete an upload whose bytes are all here. A takeover may have ended the last append before the
  ///     append could complete the upload.
  ///   - isSecond: whether this is the second try, after a newer request took the upload over during the first try.
  func hold(
    readOnly: Bool = false, completing: Bool = true, isSecond: Bool = false, then: @escaping () -> Void
  ) {
    var (hasGoneOn, isOvertaken) = (false, false)
    let goOn = { [self] in
      guard !hasGoneOn, state.isPreparing else { return }
      hasGoneOn = true
      afterStoring { [self] in
        guard completing else { return then() }
        guard isOvertaken, upload?.isBeingWritten == true else { return completeIfWhole(then) }
        isSecond ? displaced() : lookAgain(then)
      }
    }
    // If a newer request takes the upload over, a request that only reads can still report the durable offset, unless the newer
    // request writes.
    let overtaken = { [weak self] in
      guard readOnly else { return self?.displaced() ?? () }
      isOvertaken = true
      goOn()
    }
    upload?.takeOver(on: loop.loop, readOnly: readOnly, displaced: { overtaken() }) { [self] writer in
      guard state.isPreparing else { return writer.detach() }
      self.writer = writer
      goOn()
    }
  }

  /// Takes the upload over a second time to read its offset, after ``lookAgainAfter``. Two requests on separate connections can
  /// arrive in the wrong order: an append that the client has already given up may arrive after this request, and take the upload
  /// over from it. That append soon ends by itself, or the second try ends it.
  private func lookAgain(_ then: @escaping () -> Void) {
    let timer = loop.loop.makeTimer { [weak self] in
      guard let self, self.state.isPreparing else { return }
      self.hold(readOnly: true, isSecond: true, then: then)
    }
    lookTimer = timer
    timer.schedule(after: Self.lookAgainAfter)
  }
  static let lookAgainAfter = Duration.milliseconds(100)

  private func completeIfWhole(_ then: @escaping () -> Void) {
    guard let upload, upload.status.phase == .open, isWhole(upload) else { return then() }
    upload.complete(on: loop.loop) { [self] _ in
      // The request that was taken over may have completed the upload.
      guard upload.status.phase != .open else { return refuse(.storage) }
      deliver()
      guard state.isPreparing else { return }
      then()
    }
  }

  /// Whether all bytes are here: up to the end that the last append announced, or, in tus, up to the upload's length.
  private func isWhole(_ upload: SpooledUpload) -> Bool {
    let status = upload.status
    return upload.expectedEnd == status.offset
      || dialect == .tus && completesAtLength && status.length == status.offset
  }

  /// Syncs everything that was written, then calls `then`.
  func afterStoring(_ then: @escaping () -> Void) {
    upload?.sync(on: loop.loop) { [self] result in
      if state.isOver { return }
      switch result {
      case .success: then()
      case .failure: refuse(.storage)
      }
    }
  }

  private func judge(_ append: UploadAppend) {
    guard let upload, let writer else { return refuse(.storage) }
    // The offset of a newer writer must not decide about this request.
    guard writer.isCurrent else { return displaced() }
    // The upload may have been completed before the writer changed.
    guard upload.status.phase == .open else { return beginLate(append) }
    guard append.offset == writer.offset else {
      // If the client's offset is right, the file has bytes beyond this offset that do not count and could not be cut off. The
      // client may try again.
      let isOurFault = append.offset == upload.status.offset
      return refuse(isOurFault ? .storage : .wrongOffset(provided: append.offset))
    }
    if append.completes, upload.origin.concatenation == .partial { return refuse(Self.endsPart) }
    sizeLimit = limits.maxSize
    if let sizeLimit, let length = append.length, length > sizeLimit { return refuse(.tooLarge) }
    let (end, overflow) = append.offset.addingReportingOverflow(append.contentLength ?? 0)
    guard !overflow else { return refuse(.tooLarge) }
    // The content goes beyond the length that the same request declares, so this length is not recorded.
    if let length = append.length, end > length, upload.status.length ?? length == length {
      return exceeded(from: append.offset)
    }
    if let length = append.length, !upload.declare(length: length) { return refuse(.inconsistentLength) }
    if let length = upload.status.length, end > length { return exceeded(from: append.offset) }
    if let sizeLimit, end > sizeLimit { return refuse(.tooLarge) }
    if append.offset > 0, append.hasContent {
      note("upload-resumed")
      loop.counters.add(dialect == .tus ? .clientResumedTus : .clientResumedRUFH)
      loop.counters.add(.savedByClientResume, append.offset)
    }
    expectEnd(told: append.length ?? append.contentLength.map { _ in end }, length: upload.status.length)
    receive(append.digests)
  }

  /// Handles an append to an upload that is not open any more, and so takes no more bytes.
  private func beginLate(_ append: UploadAppend) {
    guard let status else { return refuse(.notFound) }
    switch status.phase {
    case .open: return refuse(.storage)
    case .invalid, .removed: return refuse(.gone)
    case .unknown: return refuse(.outcomeUnknown)
    case .complete, .forwarding, .sent, .answered: break
    }
    if status.isConcatFinal { return refuse(.modifiesFinal) }
    if status.isConcatPartial { return refuse(append.completes ? Self.endsPart : .alreadyComplete) }
    guard dialect != .tus || status.phase == .answered else { return beginUndecided() }
    if dialect == .tus, let origin = status.originStatus, origin >= 400 { return refuse(.gone) }
    guard append.offset == status.offset else { return refuse(.wrongOffset(provided: append.offset)) }
    guard append.contentLength == 0 || !append.hasContent || append.contentLength == nil else {
      return refuse(.alreadyComplete)
    }
    // The content is chunked, so only its first byte or its end shows whether it is empty.
    guard append.contentLength != nil || trailers != nil || !pending.isEmpty else {
      _ = did(state.awaitsContent(), "awaits-content")
      return
    }
    judgeLate()
  }

  /// Decides about an append to a complete upload, when it is known whether the append has content.
  func judgeLate() {
    _ = did(state.judgesContent(), "judges-content")
    guard pending.isEmpty else { return refuse(.alreadyComplete) }
    deliver()
    awaitAnswer()
  }

  /// Responds that the outcome is not known yet. tus has no status code for this case, so the client is told when to ask again
  /// (`Retry-After`).
  func beginUndecided() {
    // After a 401 only new credentials help, and this request may have brought them.
    if let refusal = upload?.lastRefusal?.answer, refusal.status == 401,
      hasFreshCredentials || loop.loop.wallSeconds - refusal.at >= Self.refusedPause
    {
      deliver()
    }
    refuse(.undecided(retryAfter: Self.undecidedRetry))
  }

  /// Seconds after a 401 before another attempt is made with the same credentials.
  private static let refusedPause: Int64 = 10
  /// The `Retry-After` of a response that says that the outcome is not known yet, in seconds.
  static let undecidedRetry = 5

  /// Refuses content that goes beyond the length of the upload. The upload goes back to `start`; in the versions since draft -08,
  /// the upload becomes invalid instead.
  /// - Parameter start: the bytes before this offset stay. It is the larger one of two offsets: the one at which the request's
  ///   content began, and the last one that the client was told.
  func exceeded(from start: UInt64) {
    stopTaking()
    if version?.givesUpBeyondLength == true {
      dropWriter()
      upload?.invalidate(why: "length-exceeded", on: loop.loop) { [self] _ in refuse(.tooLong) }
      return
    }
    guard let writer else { return refuse(.tooLong) }
    writer.goBack(to: start)
    dropWriter()
    afterStoring { [self] in refuse(.tooLong) }
  }

  /// The refusal of an append that would complete a part of a concatenation. Only the final upload can be completed.
  private static let endsPart = UploadRefusal.malformed(
    "This is a part of a concatenation: what is made of it ends, not the part.")
}
