import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlWire

/// The hot path of HTTP/2; that of HTTP/1.1 is ``HTTP1Connection/answerAtOnce(_:hasMore:known:)``. A plain GET of a small,
/// fresh, complete body in memory is answered without an ``HTTP2Stream``, an ``IncomingRequest`` or an ``Exchange``. Any other
/// request becomes an exchange, which gives the same answer.
extension HTTP2Connection {
  func session(
    _ session: HTTP2Session, answers get: HTTP2PlainGet, on id: HTTP2StreamID, with values: inout HTTP2FieldValues
  ) -> HTTP2ReadyAnswer? {
    guard phase == .open else { return nil }
    let request = HotRequest(
      authority: get.bytes[get.authority], target: get.bytes[get.target], hasCookie: get.hasCookie,
      namesScheme: get.namesScheme)
    var known: LookedUp?
    let found = connections.services.hotResponse(request, facts, known: &known, takesRecords: false) {
      var codings = AcceptEncoding()
      get.each(.acceptEncoding) { codings.add(get.bytes[$0]) }
      return codings
    }
    guard let hot = found, let body = hot.stored.body.wholeAtHand(),
      !body.isEmpty,
      hot.answer.total == UInt64(body.count)
    else { return nil }
    hot.store.noteUse(hot.stored)
    connections.counters.add(.http2Streams)
    let ownID = get.requestID == nil ? connections.services.requestIDs.make() : nil
    append(hot, id: ownID, to: &values)
    readyRequests.append(HTTP2ReadyRequest(id, get, request, ownID, hot.route, bytes: body.count, connections.loop.now))
    if let accessLog = connections.services.accessLog, accessLog.hasExtras {
      readyRequests[readyRequests.count - 1].shownHead = shownHead(of: hot, id: ownID)
    }
    (hasServed, hasAnsweredReady) = (true, true)
    return HTTP2ReadyAnswer(hot.answer.headForHTTP2(hot.stored, hot.route), body: body)
  }

  private func append(_ hot: HotResponse, id: [UInt8]?, to values: inout HTTP2FieldValues) {
    let fields = HitFields(hot, facts, connections)
    if let value = fields.date { values.append("date", value) }
    if let value = fields.strictTransport { values.append("strict-transport-security", value) }
    values.append("age", decimal: fields.age)
    values.append("cache-status", HitFields.cacheStatus, decimal: fields.timeToLive)
    if let id { values.append("x-request-id", id, isUnique: true) }
  }

  /// Returns the fields of the answer as HTTP/1.1 writes them, for formats of the access log that show some.
  private func shownHead(of hot: HotResponse, id: [UInt8]?) -> Bytes {
    let fields = HitFields(hot, facts, connections)
    var head = hot.answer.head[...]
    if let value = fields.date { head += Array("Date: ".utf8) + value + Array("\r\n".utf8) }
    if let value = fields.strictTransport {
      head += Array("Strict-Transport-Security: ".utf8) + value + Array("\r\n".utf8)
    }
    head += Array("Age: \(fields.age)\r\nCache-Status: \(HitFields.cacheStatus)\(fields.timeToLive)\r\n".utf8)
    if let id { head += Array("X-Request-Id: ".utf8) + id + Array("\r\n".utf8) }
    return head
  }

  // MARK: - Sending

  /// Whether no request is open, neither with a stream nor on the hot path.
  var isIdle: Bool { streams.isEmpty && session.readyCount == 0 }

  /// Sets the time limits of answers on the hot path, after the received requests were answered and as much as possible was sent.
  func timeReady() {
    guard hasAnsweredReady else { return }
    hasAnsweredReady = false
    if session.readyCount > 0 { return expect(within: listener.settings.sendTimeout) }
    guard streams.isEmpty else { return }
    idleSince = connections.loop.now
    expect(within: listener.settings.keepaliveTimeout)
  }

  /// Cuts each answer on the hot path if for `send-timeout` the client has taken nothing of it. Returns the time until the next
  /// check; `nil` if no answer is being sent.
  func cutStuckReady(_ now: Monotonic) -> Duration? {
    guard session.readyCount > 0 else { return nil }
    let limit = listener.settings.sendTimeout
    let stuck = session.stuckReady(
      for: limit.wholeNanoseconds, at: Int64(clamping: now.nanoseconds),
      stuckSince: stuckSince.map { Int64(clamping: $0.nanoseconds) })
    for id in stuck { cutReady(id, BodyEnd(party: .client, reason: "send-timeout")) }
    return limit
  }

  func cutReady(_ id: HTTP2StreamID, _ end: BodyEnd) {
    let sent = session.readySent(of: id)
    let request = readyRequests.firstIndex { $0.stream == id }.map { readyRequests.remove(at: $0) }
    if let request { log(request, end, sent: sent) }
    session.reset(id, end.party == .client ? .cancel : .internalError)
    pump()
  }

  // MARK: - Logs

  func session(_ session: HTTP2Session, closedReady id: HTTP2StreamID, by code: UInt32?, sent: Int) {
    // A complete answer (with `until`) is logged later, when the socket has taken it.
    guard let index = readyRequests.firstIndex(where: { $0.stream == id }), readyRequests[index].until == nil else {
      return
    }
    log(readyRequests.remove(at: index), BodyEnd(party: .client, reason: HTTP2Stream.reason(of: code)), sent: sent)
  }

  /// Notes that the end of the answer is in the bytes being produced.
  func answeredReady(_ id: HTTP2StreamID) {
    guard let index = readyRequests.firstIndex(where: { $0.stream == id }) else { return }
    readyRequests[index].until = .max
  }

  /// Marks the answers whose last bytes were just produced: such an answer counts as sent once all bytes produced so far are
  /// written.
  func noteAnsweredReady() {
    for index in readyRequests.indices where readyRequests[index].until == .max {
      readyRequests[index].until = produced
    }
  }

  func logSentReady() {
    while let index = readyRequests.firstIndex(where: { $0.until.map { $0 <= written } ?? false }) {
      log(readyRequests.remove(at: index))
    }
  }

  /// Logs the requests on the hot path whose answers are lost with the connection.
  /// - Parameter unanswered: `true`: only the answers whose end is not produced yet are lost; `false`: all are.
  func dropReady(_ end: BodyEnd, unanswered: Bool) {
    for index in readyRequests.indices.reversed() where !unanswered || readyRequests[index].until == nil {
      let request = readyRequests.remove(at: index)
      log(request, end, sent: request.until == nil ? session.readySent(of: request.stream) : nil)
    }
  }

  /// - Parameters:
  ///   - end: what ended the answer early; `nil`: it is complete.
  ///   - sent: bytes of the body; `nil`: all.
  private func log(_ request: HTTP2ReadyRequest, _ end: BodyEnd? = nil, sent: Int? = nil) {
    let connections = self.connections
    let duration = connections.loop.now.microseconds(since: request.began)
    if let end {
      connections.logCut(
        end, connections.services.shown(request.plain.target), id: connections.services.shown(request.id),
        sent: UInt64(sent ?? request.bytes),
        of: UInt64(request.bytes), client: facts.text[...], upstream: request.route.upstreamName, takesRanges: true)
    }
    connections.countHit(sent: UInt64(sent ?? request.bytes), duration, end)
    connections.logHit(
      request.plain, facts, request.route, status: 200, sent: UInt64(sent ?? request.bytes), duration
    ) { record in
      record.version = HTTPVersion.http2.text
      record.referer = request.get.first(.referer).map { connections.services.shown(request.get.bytes[$0]) }
      record.userAgent = request.get.first(.userAgent).map { connections.services.shown(request.get.bytes[$0]) }
      record.requestID = connections.services.shown(request.id)
      if let end { record.end(end) }
      record.extras = connections.hitExtras(facts, requestLength: 0, head: request.shownHead, isCounted: false) {
        request.get.first(named: $0)
      }
    }
  }
}

/// A request whose answer is being sent on the hot path.
struct HTTP2ReadyRequest {
  let stream: HTTP2StreamID
  let get: HTTP2PlainGet
  let plain: HotRequest
  /// The generated identifier, if the request had none.
  private let ownID: [UInt8]?
  let route: RouteSettings
  /// The length of the body.
  let bytes: Int
  let began: Monotonic
  /// The whole answer is sent when ``HTTP2Connection/written`` has reached this value; `.max` while the end of the answer is
  /// being produced, `nil` before that.
  var until: UInt64?
  /// The head of the answer for formats of the access log that show fields of it; empty for others.
  var shownHead: Bytes = []

  init(
    _ stream: HTTP2StreamID, _ get: HTTP2PlainGet, _ plain: HotRequest, _ ownID: [UInt8]?, _ route: RouteSettings,
    bytes: Int, _ began: Monotonic
  ) {
    (self.stream, self.get, self.plain, self.ownID) = (stream, get, plain, ownID)
    (self.route, self.bytes, self.began) = (route, bytes, began)
  }

  var id: Bytes { ownID.map { $0[...] } ?? get.requestID.map { get.bytes[$0] } ?? [] }
}
