import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpload
import PawlUploadStore

/// One request about an upload, from its head to its response.
///
/// `PawlUpload` decides what the protocols require, and `PawlUploadStore` keeps the bytes; this class connects the two. The
/// client is never told a larger offset than the durable one. Creation, appending, waiting for the origin and the rest are in the
/// extensions.
final class UploadExchange: Exchange {
  enum Question {
    case creation(UploadCreation)
    case resource(UploadToken?, UploadCommand)
    case refused(UploadRefusal, UploadToken?)
  }

  typealias State = UploadExchangeState<ResponseWait, ForwardExchange>

  /// The upload's URL, if the request is to this URL or creates the upload.
  enum Address {
    case none
    /// The URL is made, but the client does not have it yet.
    case made(UploadToken)
    case told(UploadToken)
  }

  let request: IncomingRequest
  let channel: any ResponseChannel
  /// Delivers the upload once it is complete.
  let deliveries: LoopUploads
  let dialect: UploadProtocol
  let question: Question
  @exclusivity(unchecked) var state = State()
  var auth: AuthRequest?

  var upload: SpooledUpload?
  var address = Address.none
  var writer: UploadWriter?
  /// The timer for the second try of ``hold(readOnly:completing:isSecond:then:)``.
  var lookTimer: LoopTimer?
  /// Whether the credentials of this request differ from those that the upload had.
  var hasFreshCredentials = false

  // Content
  var check: DigestCheck?
  var pending = ChunkQueue()
  /// The trailers of the request; `nil` until the end of its content has been read.
  var trailers: Fields?
  /// The largest size of the upload, in bytes.
  var sizeLimit: UInt64?
  /// The offset in the upload at which the request's content begins.
  var contentStart: UInt64 = 0
  var observation: UploadObservation?
  var toldOffset: UInt64 = 0
  var toldAt: Monotonic?
  /// The number of the last delivery attempt that was refused before this request. Only refusals of later attempts are passed to
  /// the client.
  var baseline = 0

  /// - Precondition: the route takes uploads.
  init(
    _ question: Question, _ dialect: UploadProtocol, _ request: IncomingRequest, channel: any ResponseChannel,
    deliveries: LoopUploads
  ) {
    (self.question, self.dialect, self.request, self.channel) = (question, dialect, request, channel)
    self.deliveries = deliveries
    request.counts(as: .upload)
  }

  var loop: LoopServices { request.loop }
  var uploads: UploadRoute? { request.route.uploads }
  var limits: UploadLimits { uploads?.limits(for: upload, now: loop.loop.wallSeconds) ?? UploadLimits() }
  var status: UploadFacts? { upload?.status }
  var version: InteropVersion? { if case .ietf(let version) = dialect { version } else { nil } }

  /// Whether the request creates the upload.
  var isCreation: Bool { if case .creation = question { true } else { false } }

  /// Whether the upload is complete after this request's content (`Upload-Complete: ?1` of the drafts).
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

  /// Refuses the request in the form that its upload protocol has. The rest of the content is read and dropped, so that the
  /// client reads the response.
  func refuse(_ refusal: UploadRefusal) {
    if state.isOver { return }
    if let counter = refusal.counter { loop.counters.add(counter) }
    reply(refusalReply(refusal))
  }

  func refusalReply(_ refusal: UploadRefusal) -> UploadReply {
    var answer = UploadReplies.refusal(refusal, dialect, status, limits)
    answer.head.fields.append(.proxyStatus, ProxyError(Self.kind(of: refusal)).fieldValue)
    return answer
  }

  /// The Proxy-Status error type of a refusal (RFC 9209 §2.3).
  private static func kind(of refusal: UploadRefusal) -> ProxyError.Kind {
    switch refusal {
    case .undecided, .originSilent: .destinationUnavailable
    case .outcomeUnknown: .connectionTerminated
    case .noSpace, .storage, .ending: .proxyInternalError
    case .tooManyUploads: .connectionLimitReached
    default: .httpRequestError
    }
  }

  func reply(_ reply: UploadReply) {
    var head = reply.head
    seal(&head)
    respond(head, MemoryBody(reply.body), length: .known(UInt64(reply.body.count)))
  }

  /// Adds the fields that every response about an upload has. They forbid storing the response, guessing its media type, and
  /// sending the upload's URL as `Referer` (UploadProtocols, "Fields on upload responses").
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

  /// Ends the work of this request on the upload: releases the right to write, and drops timers, observers and waiting content.
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

  /// Releases the right to write. A later takeover does not displace this request any more.
  func dropWriter() {
    writer?.detach()
    writer = nil
  }

  /// Ends this request without a response, because a newer request has taken the upload over. The connection or stream is cut.
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

  /// Whether the step was done. `false`: the step came too late, or is impossible in this phase. An impossible step is logged.
  func did(_ step: State.Step, _ event: StaticString) -> Bool {
    if step == .impossible {
      loop.events.log(
        .error, "upload-internal-error", ["upload": upload?.id.hex ?? "-", "event": "\(event)"])
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

extension UploadRefusal {
  /// The counter of refusals at a limit; `nil`: this is none.
  fileprivate var counter: LoopCounter? {
    switch self {
    case .tooLarge: .rejectedUploadSize
    case .noSpace: .rejectedUploadSpace
    case .tooManyUploads: .rejectedUploadCount
    default: nil
    }
  }
}
