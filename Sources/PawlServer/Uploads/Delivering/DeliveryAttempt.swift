import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpload
import PawlUploadStore
import PawlUpstream

/// One attempt to deliver a completed upload to its origin.
///
/// An attempt sends the request except its end (the last byte, or the closing delimiter of a form), writes `sent` to the journal,
/// sends the end, and reads the response. It belongs to one loop, and is kept in the loop's ``DeliveryQueue``.
final class DeliveryAttempt {
  /// The step that the attempt has reached.
  enum Phase {
    case preparing(AuthRequest?)
    /// The request waits for a connection, or is being sent.
    case sending
    /// All but the end of the request has been handed to the socket; the journal is being written.
    case journalling
    /// The end is on its way: from here on the origin may have acted on the request.
    case sent
    /// The outcome is being recorded.
    case over
  }

  /// How the exchange with the origin ended.
  enum Outcome {
    case answered(ResponseHead, ResponseCollector)
    case broke(OriginFailure)
    /// A complete response that says that the upload was taken, although the origin got only a part of the request. The text says
    /// why it got only a part.
    case takenInPart(ResponseHead, ResponseCollector, String)
  }

  /// What the journal says of this attempt.
  enum Journal { case nothing, beingWritten, sent }

  let upload: SpooledUpload
  let route: RouteSettings
  let uploads: UploadRoute
  unowned let loopUploads: LoopUploads
  let isUrgent: Bool
  /// The client and path that the attempt's place counts for, in the queue and at the upstream.
  let holder: PlaceHolder
  let began: Monotonic
  let attempt: Int
  /// The time at which the upload would have been given up without this attempt; wall clock, seconds since 1970.
  let formerEnd: Int64?

  var phase = Phase.preparing(nil)
  var recorded = Journal.nothing
  var request: DeliveryRequest?
  var origin: OriginExchange?
  var content: DeliveryContent?
  var head: ResponseHead?
  /// The length of the response's content according to the response's head, in bytes.
  var announced: UInt64?
  var collector: ResponseCollector
  /// The outcome that came while the journal was being written.
  var early: Outcome?
  var timer: LoopTimer?
  var sample = TransferSample()
  private(set) var isCut = false

  var loop: EventLoop { loopUploads.loop }
  var id: String { upload.id.hex }

  /// Queues the delivery of a complete upload, unless the delivery is already queued or running. A client waits for this
  /// delivery, so it starts before most deliveries whose client does not wait. May be called any number of times, on the loop.
  static func deliver(_ upload: SpooledUpload, route: RouteSettings, on loop: LoopUploads) {
    loop.queue.enter(upload, route, isUrgent: true)
  }

  /// Returns a response body that is longer than `response-max`. Such a body is available for some time after it came.
  static func oversizedResponse(of upload: SpooledUpload, in uploads: LoopUploads) -> OversizedResponse? {
    uploads.oversizedResponses.withLock { $0[upload.id] }
  }

  /// - Precondition: the upload has entered the phase `forwarding` for this attempt.
  init(
    _ upload: SpooledUpload, route: RouteSettings, uploads: UploadRoute, on loopUploads: LoopUploads, isUrgent: Bool,
    holder: PlaceHolder
  ) {
    (self.upload, self.route, self.uploads, self.loopUploads) = (upload, route, uploads, loopUploads)
    (self.isUrgent, self.holder, began) = (isUrgent, holder, loopUploads.loop.now)
    (attempt, formerEnd) = (upload.attempts + 1, upload.giveUpAt)
    let (directory, pool) = (uploads.directory, loopUploads.pool)
    let room = uploads.store.makeRoom(for: upload.origin.client)
    collector = ResponseCollector(limit: uploads.settings.responseMax, room: room) {
      TemporaryFile(in: directory, pool: pool)
    }
  }

  /// Whether the attempt can go on while another process has the spool: it needs nothing from the spool but its open file, and each of
  /// its steps can be recorded by that process (``LentStep``).
  var isLendable: Bool {
    switch phase {
    case .preparing: false
    case .sending, .journalling, .sent: true
    case .over: [.forwarding, .sent].contains(upload.status.phase)
    }
  }

  // MARK: - Before the request

  func start() {
    if let time = uploads.settings.forwardGiveUp {
      if upload.giveUpAt == nil { upload.giveUpAt = loop.wallSeconds + time.wholeSeconds }
    } else {
      // The limit was for the wait for the client, and this wait is over.
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

  /// Asks `auth-request` again, because the application's decision may have changed since the creation.
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

  /// Ends the attempt because pawl ends. An incomplete request has no effect. If the origin may have the complete request, the
  /// next start of pawl decides about the upload (``DeliveryRecovery``).
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

  /// Corrects the journal, because the end of the request was not sent. If the process ends before the correction is recorded,
  /// the upload stays `sent`.
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

  /// Ends the attempt, and removes it from the queue.
  func end() {
    phase = .over
    letGo()
    loopUploads.services.counters.observe(.delivery, microseconds: loop.now.microseconds(since: began))
    loopUploads.queue.ended(self)
  }
}
