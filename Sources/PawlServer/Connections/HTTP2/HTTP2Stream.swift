import PawlHTTP
import PawlLoop
import PawlWire

/// One request over HTTP/2 and its answer: what ``HTTP1Connection`` is for HTTP/1.1, without the connection. What would
/// cut a connection there resets the stream here. The request's content is in `HTTP2Stream+Content`, the answer in
/// `HTTP2Stream+Answer`. Held by its connection until both sides have ended, and by its exchange.
final class HTTP2Stream {
  let id: HTTP2StreamID
  /// `nil` once the stream is over for the exchange, too.
  private(set) var connection: HTTP2Connection?
  let loop: LoopConnections
  private(set) var arrival: Arrival
  var state: HTTP2StreamState
  var request: IncomingRequest?
  var exchange: (any Exchange)?
  /// When the head came.
  private let began: Monotonic

  /// What has come and is not begun yet.
  enum Arrival {
    case request(HTTP2Request)
    /// One that is complete with its end alone, which is waited for.
    case unended(HTTP2Request)
    case refusal(RequestRefusal)
    case begun
  }

  /// A WebSocket that was asked for (RFC 8441).
  enum WebSocket {
    case none
    /// The origin is asked; with the key that was made for its half.
    case asked(WebSocketHandshake)
    /// The request's content and the answer's are its bytes.
    case tunnel
  }

  // The request's content
  /// Came, and the exchange would not take it yet. Bounded by the stream's window: no credit is given for it.
  var held = ChunkQueue()
  var isPaused = false
  /// To be told to the exchange behind what is held.
  var untoldEnd: Fields?
  var meter = RateMeter()
  /// Bytes of content so far, and those announced.
  var contentCount: UInt64 = 0
  var contentLength: UInt64?
  /// Bytes of unwanted content that are still dropped rather than refused.
  var dropBudget = 0
  var wish = UnwantedContent.Wish.none
  /// Made when something of the content, or its end, has to come in time.
  private(set) var contentTimer: LoopTimer?

  // The answer
  let outgoing = HTTP2Outgoing()
  var webSocket = WebSocket.none
  /// When the client last took some of the answer, or could have.
  var progressAt: Monotonic

  init(_ id: HTTP2StreamID, _ request: HTTP2Request, on connection: HTTP2Connection) {
    (self.id, self.connection, loop) = (id, connection, connection.connections)
    arrival = .request(request)
    state = HTTP2StreamState(requestHasEnded: request.head.framing == .none)
    if case .length(let count) = request.head.framing { contentLength = count }
    began = connection.connections.loop.now
    progressAt = began
  }

  init(_ id: HTTP2StreamID, refused refusal: RequestRefusal, on connection: HTTP2Connection) {
    (self.id, self.connection, loop) = (id, connection, connection.connections)
    arrival = .refusal(refusal)
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

  /// After everything that came with the head was read: a request that was reset at once costs no exchange.
  func begin() {
    guard let connection, !isClosed else { return }
    switch arrival {
    case .request(let request), .unended(let request):
      if isUnendedNothing(request.head) { return waitForEnd(of: request) }
      arrival = .begun
      begin(request, on: connection)
    case .refusal(let refusal):
      arrival = .begun
      refuse(refusal)
    case .begun: break
    }
  }

  private func begin(_ request: HTTP2Request, on connection: HTTP2Connection) {
    var head = request.head
    // Only now it shows that there is no content: clients may say so in a frame of its own.
    if head.framing == .chunked, requestHasEnded, contentCount == 0 { head.framing = .none }
    if head.method == .connect {
      guard let handshake = WebSocketHandshake(request) else { return refuseConnect() }
      webSocket = .asked(handshake)
      contentLength = nil
      head = handshake.request(head)
    }
    let request = loop.makeRequest(head, facts: connection.facts, began: began)
    self.request = request
    let exchange = loop.dispatch.makeExchange(for: request, channel: self)
    self.exchange = exchange
    exchange.start()
    passContent()
    timeContent()
  }

  /// No content is announced, and the stream has not ended: with its head alone the origin would have the whole of a
  /// request that may prove malformed (RFC 9113 §8.1.1).
  private func isUnendedNothing(_ head: RequestHead) -> Bool {
    head.framing == .length(0) && !requestHasEnded && head.method != .connect
  }

  /// Such a request is complete with its end, for which it has as long as for its head.
  private func waitForEnd(of request: HTTP2Request) {
    guard let connection, case .request = arrival else { return }
    arrival = .unended(request)
    timeContent(after: connection.listener.settings.headerTimeout)
  }

  /// ``contentTimeIsOver()`` is called after this time.
  func timeContent(after duration: Duration) {
    let timer = contentTimer ?? loop.loop.makeTimer { [weak self] in self?.contentTimeIsOver() }
    contentTimer = timer
    timer.schedule(after: duration)
  }

  /// The end of a request that began with it did not come.
  func refuseUnended() {
    arrival = .begun
    refuse(RequestRefusal(408, "The request did not end in time."))
  }

  private func refuse(_ refusal: RequestRefusal) {
    let reply = Replies.refusal(status: refusal.status, reason: refusal.reason)
    connection.map { loop.logRefusal($0.facts, status: refusal.status, bytes: reply.body.count) }
    self.reply(reply)
  }

  /// pawl is nobody's tunnel but a WebSocket's (RFC 8441 §3, RFC 9110 §9.3.6).
  private func refuseConnect() {
    refuse(RequestRefusal(501, "This server offers no tunnels but WebSocket."))
  }

  // MARK: - The answer's life

  /// END_STREAM is produced, within the session's call.
  func answered() {
    state.answerIsProduced()
    outgoing.finish()
  }

  /// The same, after that call: what is reset now overtakes nothing.
  func dropRestIfUnended() {
    guard !isClosed, !requestHasEnded, !isTunnel else { return }
    dropRest()
  }

  /// The last byte of the answer is in the socket.
  func answerSent() {
    guard !isTunnel || isClosed else { return }
    let finished = exchange
    exchange = nil
    finished?.responseSent()
    logRequest()
    if isClosed { connection = nil }
  }

  /// Both sides have ended, or (`code`) the stream was reset.
  func closed(by code: UInt32?) {
    state.close()
    contentTimer?.close()
    // What the exchange has not taken yet may still be for it.
    guard hasAnswered, code == nil || !isTunnel else {
      let isMalformed = !requestHasEnded && code == HTTP2ErrorCode.protocolError.rawValue
      return drop(BodyEnd(party: .client, reason: Self.reason(of: code)), isMalformed: isMalformed)
    }
    // The client was told that all is well: what is held of a tunnel is still the origin's.
    if isTunnel, let exchange { give(all: exchange) }
    release()
    if isTunnel { answerSent() }
  }

  /// RST_STREAM's code as the log's word: `reset` where the client simply wants no more.
  static func reason(of code: UInt32?) -> String {
    switch code.flatMap(HTTP2ErrorCode.init(rawValue:)) {
    case .cancel, .noError, nil: "reset"
    case .some(let code): "reset-\(code)"
    }
  }

  // MARK: - Ends

  /// The body cannot be finished: RST_STREAM, where HTTP/1.1 ends the connection short of the announced length.
  func endVisibly(_ end: BodyEnd) {
    guard !isClosed, !hasAnswered else { return }
    request?.record.end = end
    loop.noteCut(request, end)
    reset(end.party == .client ? .cancel : .internalError)
    drop(end)
  }

  /// Ends abruptly what is not to be answered.
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

  /// Nobody is left to answer: lets the exchange go. What came of the content still counts.
  /// - Parameter isMalformed: the client has broken the rules of its request (RFC 9113 §8.1.1): it is never complete.
  func drop(_ end: BodyEnd, isMalformed: Bool = false) {
    state.close()
    contentTimer?.close()
    outgoing.finish()
    if let exchange {
      self.exchange = nil
      if !hasResponded { give(all: exchange, isMalformed: isMalformed) }
      if request?.record.end == nil { request?.record.end = end }
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
