import PawlHTTP
import PawlLoop
import PawlWire

/// A request over HTTP/2 and its answer: the channel of one exchange, as ``HTTP1Connection`` is for HTTP/1.1. Errors that cut the
/// connection in HTTP/1.1 only reset the stream in HTTP/2.
///
/// The request's content is in `HTTP2Stream+Content`, the answer in `HTTP2Stream+Answer`. The stream is held by its connection
/// until both sides have ended, and by its exchange.
final class HTTP2Stream {
  let id: HTTP2StreamID
  /// `nil` once the stream is closed and its exchange has ended.
  private(set) var connection: HTTP2Connection?
  let loop: LoopConnections
  private(set) var arrival: Arrival
  var state: HTTP2StreamState
  var request: IncomingRequest?
  var exchange: (any Exchange)?
  /// When the head came.
  private let began: Monotonic

  /// The state of the request before it begins.
  enum Arrival {
    case request(HTTP2Request)
    /// A request without content that waits for END_STREAM.
    case unended(HTTP2Request)
    case refusal(RequestRefusal, RefusedHead)
    case begun
  }

  /// The state of a requested WebSocket (RFC 8441).
  enum WebSocket {
    case none
    /// The origin was sent the upgrade request, with a `Sec-WebSocket-Key` that pawl generated.
    case asked(WebSocketHandshake)
    /// The contents of the request and of the answer are the WebSocket's bytes.
    case tunnel
  }

  // The request's content
  /// Received content that the exchange has not taken yet. Limited by the stream's window, since the client gets no credit for
  /// these bytes.
  var held = ChunkQueue()
  var isPaused = false
  /// The trailers, if the content has ended and its end is still to be passed to the exchange, after the held bytes.
  var untoldEnd: Fields?
  var meter = RateMeter()
  /// The numbers of content bytes: received so far, and announced.
  var contentCount: UInt64 = 0
  var contentLength: UInt64?
  /// Bytes of unwanted content that are still read and dropped.
  var dropBudget = 0
  var wish = UnwantedContent.Wish.none
  /// The time limit of the content or its end; created when it is first needed.
  private(set) var contentTimer: LoopTimer?

  // The answer
  let outgoing = HTTP2Outgoing()
  var webSocket = WebSocket.none
  /// When the answer last made progress, or last waited for something other than the client.
  var progressAt: Monotonic

  init(_ id: HTTP2StreamID, _ request: HTTP2Request, on connection: HTTP2Connection) {
    (self.id, self.connection, loop) = (id, connection, connection.connections)
    arrival = .request(request)
    state = HTTP2StreamState(requestHasEnded: request.head.framing == .none)
    if case .length(let count) = request.head.framing { contentLength = count }
    began = connection.connections.loop.now
    progressAt = began
  }

  init(_ id: HTTP2StreamID, refused refusal: RequestRefusal, _ head: RefusedHead, on connection: HTTP2Connection) {
    (self.id, self.connection, loop) = (id, connection, connection.connections)
    arrival = .refusal(refusal, head)
    state = HTTP2StreamState(requestHasEnded: false)
    began = connection.connections.loop.now
    progressAt = began
  }

  var hasBegun: Bool {
    if case .begun = arrival { true } else { false }
  }

  var requestHasEnded: Bool { state.requestHasEnded }
  var hasResponded: Bool { state.hasResponded }
  var hasAnswered: Bool { state.hasAnswered }
  var isClosed: Bool { state.isClosed }

  var isTunnel: Bool {
    if case .tunnel = webSocket { true } else { false }
  }

  // MARK: - Beginning

  /// Begins the request. Called once everything received together with its head is parsed, so that a request that is reset at
  /// once costs no exchange.
  func begin() {
    guard let connection, !isClosed else { return }
    switch arrival {
    case .request(let request), .unended(let request):
      if isUnendedNothing(request.head) { return waitForEnd(of: request) }
      arrival = .begun
      begin(request, on: connection)
    case .refusal(let refusal, let head):
      arrival = .begun
      refuse(refusal, head)
    case .begun: break
    }
  }

  private func begin(_ request: HTTP2Request, on connection: HTTP2Connection) {
    var head = request.head
    // END_STREAM may come in a frame of its own: only now it is certain that there is no content.
    if head.framing == .chunked, requestHasEnded, contentCount == 0 { head.framing = .none }
    if head.method == .connect {
      guard let handshake = WebSocketHandshake(request) else { return refuseConnect(request.head) }
      webSocket = .asked(handshake)
      contentLength = nil
      head = handshake.request(head)
    }
    let request = loop.makeRequest(head, facts: connection.facts, began: began)
    self.request = request
    let exchange = loop.makeExchange(for: request, channel: self, on: connection.listener)
    self.exchange = exchange
    exchange.start()
    passContent()
    timeContent()
  }

  /// Whether the request announces no content but its stream has not ended. It cannot begin: its head alone would be a complete
  /// request for the origin, while the request may still turn out to be malformed (RFC 9113 §8.1.1).
  private func isUnendedNothing(_ head: RequestHead) -> Bool {
    head.framing == .length(0) && !requestHasEnded && head.method != .connect
  }

  /// Waits at most `header-timeout` for the end of a request that announces no content.
  private func waitForEnd(of request: HTTP2Request) {
    guard let connection, case .request = arrival else { return }
    arrival = .unended(request)
    timeContent(after: connection.listener.settings.headerTimeout)
  }

  /// Calls ``contentTimeIsOver()`` after this time.
  func timeContent(after duration: Duration) {
    let timer = contentTimer ?? loop.loop.makeTimer { [weak self] in self?.contentTimeIsOver() }
    contentTimer = timer
    timer.schedule(after: duration)
  }

  /// Refuses a request whose end did not come in time.
  func refuseUnended() {
    guard case .unended(let request) = arrival else { return }
    arrival = .begun
    refuse(RequestRefusal(408, "The request did not end in time."), Self.refused(request.head))
  }

  private static func refused(_ head: RequestHead) -> RefusedHead {
    RefusedHead(method: head.method.bytes[...], target: head.target, host: head.authority)
  }

  private func refuse(_ refusal: RequestRefusal, _ head: RefusedHead) {
    let reply = Replies.refusal(status: refusal.status, reason: refusal.reason)
    connection.map { loop.logRefusal($0.facts, status: refusal.status, bytes: reply.body.count, head) }
    self.reply(reply)
  }

  /// Refuses a CONNECT that is not for a WebSocket (RFC 8441 §3, RFC 9110 §9.3.6).
  private func refuseConnect(_ head: RequestHead) {
    refuse(RequestRefusal(501, "This server offers no tunnels but WebSocket."), Self.refused(head))
  }

  // MARK: - The end of the answer

  /// Notes that END_STREAM is produced. Called from within the session.
  func answered() {
    state.answerIsProduced()
    outgoing.finish()
  }

  /// Begins to drop the rest of a request that has not ended. Called after the session has produced the answer, so that a reset
  /// comes after the answer.
  func dropRestIfUnended() {
    guard !isClosed, !requestHasEnded, !isTunnel else { return }
    dropRest()
  }

  /// Ends the exchange once the last byte of the answer is in the socket.
  func answerSent() {
    guard !isTunnel || isClosed else { return }
    let finished = exchange
    exchange = nil
    finished?.responseSent()
    logRequest()
    if isClosed { connection = nil }
  }

  /// Handles the end of the stream.
  /// - Parameter code: the error code of a reset; `nil`: both sides have ended.
  func closed(by code: UInt32?) {
    state.close()
    contentTimer?.close()
    // If the answer is not complete, the exchange still gets the held content.
    guard hasAnswered, code == nil || !isTunnel else {
      let isMalformed = !requestHasEnded && code == HTTP2ErrorCode.protocolError.rawValue
      return drop(BodyEnd(party: .client, reason: Self.reason(of: code)), isMalformed: isMalformed)
    }
    // The client saw a clean end, so the held bytes of a tunnel still go to the origin.
    if isTunnel, let exchange { give(all: exchange) }
    release()
    if isTunnel { answerSent() }
  }

  /// Returns the log's word for a code of RST_STREAM: `reset` if the client has only cancelled the request.
  static func reason(of code: UInt32?) -> String {
    switch code.flatMap(HTTP2ErrorCode.init(rawValue:)) {
    case .cancel, .noError, nil: "reset"
    case .some(let code): "reset-\(code)"
    }
  }

  // MARK: - Ends

  /// Sends RST_STREAM for a body that cannot be finished, where HTTP/1.1 would end the connection before the announced length.
  func endVisibly(_ end: BodyEnd) {
    guard !isClosed, !hasAnswered else { return }
    request?.record.end = end
    loop.noteCut(request, end)
    reset(end.party == .client ? .cancel : .internalError)
    drop(end)
  }

  /// Ends the stream abruptly, without an answer.
  func abandon(_ end: BodyEnd) {
    guard !isClosed else { return }
    request?.record.end = end
    reset(.cancel)
    drop(end)
  }

  func reset(_ code: HTTP2ErrorCode) {
    guard let connection, state.close() else { return }
    connection.session.reset(id, code)
    connection.pump()
  }

  /// Ends the exchange, since the client has gone or the stream was reset. Content that came before still counts.
  /// - Parameter isMalformed: whether the request turned out to be malformed (RFC 9113 §8.1.1). If so, its content is never taken
  ///   as complete.
  func drop(_ end: BodyEnd, isMalformed: Bool = false) {
    state.close()
    contentTimer?.close()
    let isCut = hasResponded && !isTunnel && !outgoing.isLive
    outgoing.finish()
    if let exchange {
      self.exchange = nil
      if !hasResponded { give(all: exchange, isMalformed: isMalformed) }
      if request?.record.end == nil {
        request?.record.end = end
        if isCut { loop.noteCut(request, end) }
      }
      exchange.clientLeft()
    }
    release()
    logRequest()
    connection = nil
  }

  func logRequest() {
    guard let request else { return }
    loop.log(request, version: .http2)
    self.request = nil
  }
}
