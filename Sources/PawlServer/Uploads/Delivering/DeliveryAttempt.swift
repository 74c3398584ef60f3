import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore
import PawlUpstream

/// One attempt to deliver a completed upload to its origin: everything but what makes the request whole (its last byte;
/// the end of a form), then the journal, then that, then the answer. Lives on one loop, in its ``DeliveryQueue``.
final class DeliveryAttempt {
  /// How far the request is.
  enum Phase {
    case preparing(AuthRequest?)
    /// Waits for a connection, or sends.
    case sending
    /// All but what makes the request whole is with the socket; the journal is being written.
    case journalling
    /// The rest is on its way: from here on the request may have been acted on.
    case sent
    /// The outcome is being recorded.
    case over
  }

  /// How the origin ended the exchange.
  enum Outcome {
    case answered(ResponseHead, AnswerCollector)
    case broke(OriginFailure)
    /// A complete answer that says that the upload was taken, of an origin that never had all of it, and why.
    case takenInPart(ResponseHead, AnswerCollector, String)
  }

  /// What the journal says of this attempt.
  enum Journal { case nothing, beingWritten, sent }

  let upload: SpooledUpload
  let route: RouteSettings
  let uploads: UploadRoute
  unowned let loopUploads: LoopUploads
  let isUrgent: Bool
  /// Who counts for the place that it takes, here and at the origin.
  let holder: PlaceHolder
  let began: Monotonic
  let attempt: Int
  /// When the upload was to be given up before this attempt; wall seconds.
  let formerEnd: Int64?

  var phase = Phase.preparing(nil)
  var recorded = Journal.nothing
  var request: DeliveryRequest?
  var origin: OriginExchange?
  var content: DeliveryContent?
  var head: ResponseHead?
  /// Bytes of content that the answer announces.
  var announced: UInt64?
  var collector: AnswerCollector
  /// What came while the journal was being written.
  var early: Outcome?
  var timer: LoopTimer?
  private(set) var isCut = false

  var loop: EventLoop { loopUploads.loop }
  var id: String { upload.id.hex }

  /// Starts if the upload is complete and nobody forwards it yet. Any number of calls; a waiting client's is served
  /// before those that nobody waits for. On the loop.
  static func deliver(_ upload: SpooledUpload, route: RouteSettings, on loop: LoopUploads) {
    loop.queue.enter(upload, route, isUrgent: true)
  }

  /// The body of an answer that is longer than `response-max`, for some time after it came.
  static func spilledAnswer(of upload: SpooledUpload, in uploads: LoopUploads) -> SpilledAnswer? {
    uploads.spilledAnswers.withLock { $0[upload.id] }
  }

  /// The upload is in the phase `forwarding`, for this object.
  init(
    _ upload: SpooledUpload, route: RouteSettings, uploads: UploadRoute, on loopUploads: LoopUploads, isUrgent: Bool,
    holder: PlaceHolder
  ) {
    (self.upload, self.route, self.uploads, self.loopUploads) = (upload, route, uploads, loopUploads)
    (self.isUrgent, self.holder, began) = (isUrgent, holder, loopUploads.loop.now)
    (attempt, formerEnd) = (upload.attempts + 1, upload.giveUpAt)
    let (directory, pool) = (uploads.directory, loopUploads.pool)
    let room = uploads.store.makeRoom(for: upload.origin.client)
    collector = AnswerCollector(limit: uploads.settings.responseMax, room: room) {
      TemporaryFile(in: directory, pool: pool)
    }
  }

  // MARK: - Before the request

  func start() {
    if let time = uploads.settings.forwardGiveUp {
      if upload.giveUpAt == nil { upload.giveUpAt = loop.wallSeconds + time.wholeSeconds }
    } else {
      // What ended the wait for its client is over with it.
      upload.giveUpAt = nil
    }
    loopUploads.events.log(
      .info, "upload-forwarding",
      ["upload": id, "attempt": "\(attempt)", "upstream": route.upstreamName, "length": "\(upload.status.offset)"])
    upload.openBody(on: loop) { [self] result in
      guard !isCut else { return }
      switch result {
      case .success(let body): check(body)
      case .failure(let error): comeBack("the stored bytes cannot be opened: \(error)")
      }
    }
  }

  private func check(_ body: UploadBody) {
    let request = DeliveryRequest(
      upload, length: body.count, route: route, uploads: uploads, loop: loopUploads.services)
    self.request = request
    let claims = loopUploads.queue.isVerified(upload) ? [] : request.claims
    if claims.isEmpty, let result = DeliveryCheck.makeAtOnce(body) { return wasChecked(result, request, body) }
    let pool = claims.isEmpty ? loopUploads.pool : loopUploads.services.shared.longWorkers
    let isQueued = pool.run({ DeliveryCheck.make(body, claims) }, then: loop) { [self] result in
      if !isCut { wasChecked(result, request, body) }
    }
    if !isQueued { comeBack("pawl is ending") }
  }

  private func wasChecked(_ result: DeliveryCheck, _ request: DeliveryRequest, _ body: UploadBody) {
    switch result {
    case .good(let last):
      loopUploads.queue.noteVerified(upload)
      content = DeliveryContent(request, body, last: last, on: loopUploads)
      ask(request)
    case .mismatch(let algorithm): refuseForGood("the bytes are not those of Repr-Digest (\(algorithm.rawValue))")
    case .unreadable(let why): comeBack(why)
    }
  }

  /// The application is asked again: its mind may have changed while the bytes came.
  private func ask(_ request: DeliveryRequest) {
    let asked = AuthRequest.ask(request.incoming) { [self] verdict in
      guard !isCut else { return }
      switch verdict {
      case .allowed: connect(request)
      case .refused(let head, let body, let isWhole): wasRefused(head, body, isWhole: isWhole)
      case .unavailable: comeBack("auth-request did not answer", isAway: true)
      }
    }
    if let asked { phase = .preparing(asked) }
  }

  private func connect(_ request: DeliveryRequest) {
    phase = .sending
    var asked = OriginRequest(head: request.head, use: isUrgent ? .passThrough : .fill)
    (asked.wantsFreshConnection, asked.holdsHead) = (true, request.isEmpty)
    asked.holder = holder
    asked.outlivesAnswer = { DeliveryPolicy.saysTaken(status: $0) }
    origin = loopUploads.services.pool(for: route.upstream).start(asked, delegate: self)
  }

  // MARK: - Ending

  /// pawl ends: an incomplete request is none, and what is whole with the origin is judged at the next start.
  func cut() {
    isCut = true
    switch phase {
    case .preparing(let asked): asked?.cancel()
    case .sending, .journalling: takeBack()
    case .sent: if origin?.lacksHeldBack == true { takeBack() }
    case .over: break
    }
    letGo()
  }

  /// What the journal says of it, or is about to, did not happen. Whoever comes too late with that finds it `sent`.
  private func takeBack() {
    let why = "pawl ended before the last byte was sent"
    if origin?.hasWholeAnswer == true, let head {
      return upload.becomeUnknown(why: why, answer: answer(head, collector), on: loop) { _ in }
    }
    if recorded != .nothing { upload.comeBack(failed: why, nextAt: nil, on: loop) { _ in } }
  }

  func letGo() {
    timer?.close()
    timer = nil
    origin?.cancel()
    origin = nil
    content = nil
  }

  /// Nothing is left to do for this attempt.
  func end() {
    phase = .over
    letGo()
    loopUploads.queue.ended(self)
  }
}
