import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// One request about an upload, from its head to its answer: between the wire and the spool. What the protocols say is
/// decided in PawlUpload, what is kept in PawlUploadStore; here bytes go from one to the other and nobody is told more than is
/// durable. Creation, appending, waiting for the origin and the rest are in the extensions.
final class UploadExchange: Exchange {
  enum Question {
    case creation(UploadCreation)
    case resource(UploadToken?, UploadCommand)
    case refused(UploadRefusal, UploadToken?)
  }

  typealias State = UploadExchangeState<AnswerWait, ForwardExchange>

  /// The upload's URL, where the request is to it or has made it.
  enum Address {
    case none
    /// Nobody has been told it.
    case made(UploadToken)
    case told(UploadToken)
  }

  let request: IncomingRequest
  let channel: any ResponseChannel
  /// Where its upload goes on its way once it is complete.
  let deliveries: LoopUploads
  let dialect: UploadProtocol
  let question: Question
  @exclusivity(unchecked) var state = State()
  var auth: AuthRequest?

  var upload: SpooledUpload?
  var address = Address.none
  var writer: UploadWriter?
  /// Until it looks for the second time how far the upload is.
  var lookTimer: LoopTimer?
  /// The request brought other credentials than the one before.
  var hasFreshCredentials = false

  // Content
  var check: DigestCheck?
  var pending = ChunkQueue()
  /// All content is here.
  var trailers: Fields?
  /// Bytes of the upload beyond which nothing is taken.
  var sizeLimit: UInt64?
  /// Where in the upload the request's content begins.
  var contentStart: UInt64 = 0
  var observation: UploadObservation?
  var toldOffset: UInt64 = 0
  var toldAt: Monotonic?
  /// Attempts to reach the origin up to this one are not what is waited for.
  var baseline = 0

  /// - Precondition: the route takes uploads.
  init(
    _ question: Question, _ dialect: UploadProtocol, _ request: IncomingRequest, channel: any ResponseChannel,
    deliveries: LoopUploads
  ) {
    (self.question, self.dialect, self.request, self.channel) = (question, dialect, request, channel)
    self.deliveries = deliveries
  }

  var loop: LoopServices { request.loop }
  var uploads: UploadRoute? { request.route.uploads }
  var limits: UploadLimits { uploads?.limits(for: upload, now: loop.loop.wallSeconds) ?? UploadLimits() }
  var status: UploadFacts? { upload?.status }
  var version: InteropVersion? { if case .ietf(let version) = dialect { version } else { nil } }

  /// Whether the request makes the upload.
  var isCreation: Bool { if case .creation = question { true } else { false } }

  /// Whether the content ends the upload (IETF `?1`).
  var completes: Bool {
    switch question {
    case .creation(let creation): creation.completes
    case .resource(_, .append(let append)): append.completes
    case .resource, .refused: false
    }
  }

  private var token: UploadToken? {
    switch address {
    case .none: nil
    case .made(let token), .told(let token): token
    }
  }

  /// The upload's URL as this client reaches it.
  var location: [UInt8] {
    guard let token, let uploads else { return [] }
    return request.url(of: uploads.prefix + Array(token.text.utf8))
  }

  func start() {
    request.record.upstream = request.route.upstreamName
    if request.head.framing == .none { trailers = Fields() }
    switch question {
    case .creation(let creation): begin(creation)
    case .resource(let token, .options): answerOptions(token)
    case .resource(let token, let command): find(token) { [weak self] in self?.perform(command) }
    case .refused(let refusal, nil): beginRefused(refusal)
    case .refused(let refusal, let token): find(token) { [weak self] in self?.refuse(refusal) }
    }
  }

  private func perform(_ command: UploadCommand) {
    switch command {
    case .inspect: inspect()
    case .readAnswer: readAnswer()
    case .append(let append): begin(append)
    case .cancel: cancel()
    case .options: answerOptions(token)
    }
  }

  // MARK: - Answers

  /// The protocol's own no. What is left of the content is dropped so that the client gets to read this.
  func refuse(_ refusal: UploadRefusal) {
    if state.isOver { return }
    reply(refusalReply(refusal))
  }

  func refusalReply(_ refusal: UploadRefusal) -> UploadReply {
    var answer = UploadReplies.refusal(refusal, dialect, status, limits)
    answer.head.fields.append(.proxyStatus, ProxyError(Self.kind(of: refusal)).fieldValue)
    return answer
  }

  /// Whose fault it is, for programs (RFC 9209 §2.3).
  private static func kind(of refusal: UploadRefusal) -> ProxyError.Kind {
    switch refusal {
    case .undecided, .originSilent: .destinationUnavailable
    case .outcomeUnknown: .connectionTerminated
    case .noSpace, .storage: .proxyInternalError
    case .tooManyUploads: .connectionLimitReached
    default: .httpRequestError
    }
  }

  func reply(_ reply: UploadReply) {
    var head = reply.head
    seal(&head)
    respond(head, MemoryBody(reply.body), length: .known(UInt64(reply.body.count)))
  }

  /// What is said about an upload is kept by nobody, is what it says it is, and leaves its URL in no other request.
  func seal(_ head: inout ResponseHead) {
    if !head.fields.contains(.cacheControl) { head.fields.append(.cacheControl, "no-store") }
    head.fields.removeAll { _, spelling, _ in
      spelling.equalsIgnoringCase("x-content-type-options") || spelling.equalsIgnoringCase("referrer-policy")
    }
    head.fields.append(named: Bytes("X-Content-Type-Options"), Bytes("nosniff"))
    head.fields.append(named: Bytes("Referrer-Policy"), Bytes("no-referrer"))
  }

  func respond(
    _ head: ResponseHead, _ body: any BodySource, length: ContentLength, as told: State.Told = .other
  ) {
    if state.isOver { return }
    letGo(told)
    if !head.fields.contains(.location), upload?.status.phase == .open { forgetUnheard() }
    guard !state.isClientGone else { return body.finish() }
    channel.drainRequestBody()
    channel.respond(head, length: length, body: body)
  }

  /// Ends this request's part in the upload.
  func letGo(_ told: State.Told = .other) {
    _ = state.ends(told)
    dropWriter()
    lookTimer?.close()
    lookTimer = nil
    observation?.cancel()
    observation = nil
    pending.removeAll()
    auth?.cancel()
    auth = nil
  }

  /// Writes no more; what ends the upload from now on is no takeover.
  func dropWriter() {
    writer?.detach()
    writer = nil
  }

  /// A newer request has taken the upload over: this one is answered by nothing but the end of its connection.
  func displaced() {
    if state.isOver { return }
    note("upload-displaced")
    letGo()
    channel.abandon(BodyEnd(party: .client, reason: "displaced"))
  }

  func note(_ event: StaticString) {
    guard let upload else { return }
    let status = upload.status
    loop.events.log(
      .info, event,
      [
        "upload": upload.id.hex, "offset": "\(status.offset)", "length": status.length.map(String.init) ?? "-",
        "request": String(decoding: request.requestID, as: UTF8.self),
      ])
  }

  /// `false`: it was too late for this, or cannot have come here, which is told of.
  func did(_ step: State.Step, _ event: StaticString) -> Bool {
    if step == .impossible {
      loop.events.log(
        .error, "upload-event-impossible", ["upload": upload?.id.hex ?? "-", "event": "\(event)"])
    }
    return step == .done
  }

  // MARK: - Exchange

  func requestBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch state.contentComes(hasWaiting: !pending.isEmpty) {
    case .take: return take(bytes)
    case .judge:
      pending.append(bytes)
      judgeLate()
      return false
    case .pass: return state.forward?.requestBody(bytes) ?? true
    case .keep:
      pending.append(bytes)
      return false
    default: return true
    }
  }

  func requestBodyEnded(_ trailers: Fields) {
    let action = state.contentEnds()
    switch action {
    case .keep, .judge, .take: self.trailers = trailers
    case .pass: state.forward?.requestBodyEnded(trailers)
    default: break
    }
    if action == .judge { judgeLate() }
    if action == .take { drainPending() }
  }

  func clientLeft() {
    switch state.clientLeaves() {
    case .leaveEarly: leftEarly()
    case .leaveInContent: leftInContent()
    case .cancelWait:
      state.wait?.cancel()
      letGo()
    case .pass: state.forward?.clientLeft()
    default: break
    }
  }

  func responseSent() {
    switch state.answerSent() {
    case .pass: state.forward?.responseSent()
    case .noteDelivered: if !channel.hasClientEnded { upload?.noteAnswerDelivered() }
    default: break
    }
  }
}
