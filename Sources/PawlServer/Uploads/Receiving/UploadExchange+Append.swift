import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// A request that adds to an upload, or completes it (protocols 1.6; tus 1.0.0, PATCH).
extension UploadExchange {
  func begin(_ append: UploadAppend) {
    guard let upload else { return refuse(.notFound) }
    guard upload.status.phase == .open else { return beginLate(append) }
    if upload.origin.concatenation == .final { return refuse(.modifiesFinal) }
    hold { [self] in judge(append) }
  }

  /// Ends whoever writes, and goes on when what was written is durable: only that may be told, or held against a client.
  /// - Parameters:
  ///   - completing: an upload whose last request brought all it was to bring, and was overtaken before that could be said,
  ///     is complete.
  ///   - isSecond: it was overtaken once, and looks again.
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
    // Who only looks can still tell what is durable when another came to look; not when somebody goes on writing.
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

  /// Two requests on connections of their own can come in the wrong order: a client that asks how far it got has given up what it
  /// sent before, and that overtook it. That request ends by itself soon, or is ended.
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
      // It may have been completed by who was overtaken.
      guard upload.status.phase != .open else { return refuse(.storage) }
      deliver()
      guard state.isPreparing else { return }
      then()
    }
  }

  /// By the words of the last request that added to it; in tus, where nothing else is ever said, by its length.
  private func isWhole(_ upload: SpooledUpload) -> Bool {
    let status = upload.status
    return upload.expectedEnd == status.offset
      || dialect == .tus && completesAtLength && status.length == status.offset
  }

  /// Everything written becomes durable.
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
    // What another writes already says nothing to this request.
    guard writer.isCurrent else { return displaced() }
    // It may have been completed before the writer changed.
    guard upload.status.phase == .open else { return beginLate(append) }
    guard append.offset == writer.offset else {
      // What never counted could not be cut off the file: the offset that was told stays, and is worth another try.
      let isOurFault = append.offset == upload.status.offset
      return refuse(isOurFault ? .storage : .wrongOffset(provided: append.offset))
    }
    if append.completes, upload.origin.concatenation == .partial { return refuse(Self.endsPart) }
    sizeLimit = limits.maxSize
    if let sizeLimit, let length = append.length, length > sizeLimit { return refuse(.tooLarge) }
    let (end, overflow) = append.offset.addingReportingOverflow(append.contentLength ?? 0)
    guard !overflow else { return refuse(.tooLarge) }
    // A length that this very request contradicts is none to hold the upload to.
    if let length = append.length, end > length, upload.status.length ?? length == length {
      return exceeded(from: append.offset)
    }
    if let length = append.length, !upload.declare(length: length) { return refuse(.inconsistentLength) }
    if let length = upload.status.length, end > length { return exceeded(from: append.offset) }
    if let sizeLimit, end > sizeLimit { return refuse(.tooLarge) }
    if append.offset > 0, append.hasContent { note("upload-resumed") }
    expectEnd(told: append.length ?? append.contentLength.map { _ in end }, length: upload.status.length)
    receive(append.digests)
  }

  /// All bytes are here already, or none are wanted any more.
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
    // Of a chunked one, its first byte or its end says whether it is empty.
    guard append.contentLength != nil || trailers != nil || !pending.isEmpty else {
      _ = did(state.awaitsContent(), "awaits-content")
      return
    }
    judgeLate()
  }

  /// An append to a complete upload, whose content is known to be there or not.
  func judgeLate() {
    _ = did(state.judgesContent(), "judges-content")
    guard pending.isEmpty else { return refuse(.alreadyComplete) }
    deliver()
    awaitAnswer()
  }

  /// tus has no words for "complete, and not decided": the client asks again.
  func beginUndecided() {
    // After a 401 only the client can bring what is missing, and this request may have.
    if let refusal = upload?.lastRefusal?.answer, refusal.status == 401,
      hasFreshCredentials || loop.loop.wallSeconds - refusal.at >= Self.refusedPause
    {
      deliver()
    }
    refuse(.undecided(retryAfter: Self.undecidedRetry))
  }

  /// Seconds after which the same credentials are worth another attempt.
  private static let refusedPause: Int64 = 10
  /// Seconds after which an undecided client asks again.
  static let undecidedRetry = 5

  /// Content beyond the length, which nothing shall make an upload of. The request is refused and the upload is as it was
  /// before, but for what was told of meanwhile. By the drafts since -08 it is given up.
  /// - Parameter start: what stands before it stays.
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

  /// A part of a concatenation takes no end of its own: what it becomes part of has one.
  private static let endsPart = UploadRefusal.malformed(
    "This is a part of a concatenation: what is made of it ends, not the part.")
}
