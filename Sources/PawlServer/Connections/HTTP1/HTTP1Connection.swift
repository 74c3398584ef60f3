import PawlHTTP
import PawlLoop
import PawlWire

/// One client's connection and the HTTP/1.1 spoken on it: reads heads and bodies, keeps requests in order,
/// pulls answers, enforces the time limits, and ends visibly what cannot be finished.
/// Lives on one loop. Reading is in `HTTP1Connection+Reading`, answering in `HTTP1Connection+Answer`, writing in
/// `HTTP1Connection+Writing`, all that ends it in `HTTP1Connection+Ending`.
final class HTTP1Connection: StreamDelegate, ServedConnection, DeadlineHolder {
  // There may be ten thousand idle ones: what belongs to a request stands in `BusyState`, and bytes stand together.

  /// Each holds the other, until the connection is closed or the loop ends.
  let connections: LoopConnections
  let listener: ListenerOnLoop
  let stream: SocketStream
  let facts: ClientFacts
  /// Received and not consumed: a head in part, or pipelined requests.
  @exclusivity(unchecked) var input: [UInt8] = []
  /// `nil` while nothing is asked and nothing owed.
  @exclusivity(unchecked) var busy: BusyState?
  /// When the first byte came of the head that is being read, or of the request that is being answered.
  private(set) var requestBegan: Monotonic
  @exclusivity(unchecked) var state: HTTP1State
  /// The last one that was set; whether it holds says ``hasDeadline``.
  private var deadline = Monotonic(nanoseconds: 0)
  @exclusivity(unchecked) var deadlinePlace = DeadlinePlace()
  var place = ConnectionPlace()
  private var hasDeadline = false
  /// While messages are taken off the input: what an answer that is done at once must leave alone.
  var isConsuming = false
  /// While bytes are sent: what an answer that comes within must leave alone.
  var isPumping = false

  var phase: HTTP1State.Phase { state.phase }
  var hasResponded: Bool { state.hasResponded }
  var hasClientEnded: Bool { state.hasClientEnded }
  var clientVersion: HTTPVersion { state.turn.version }

  init(stream: SocketStream, facts: ClientFacts, listener: ListenerOnLoop, connections: LoopConnections) {
    (self.stream, self.facts, self.listener, self.connections) = (stream, facts, listener, connections)
    requestBegan = connections.loop.now
    // Over TLS the handshake has chosen.
    state = HTTP1State(mayBeHTTP2: listener.settings.http2 != nil && facts.tls == nil)
    stream.keep(self)
  }

  /// A request that came with the connection is answered now, before anybody watches it; one that came with the last flight of the
  /// handshake, too, and the session tickets go with the answer.
  func start() {
    if !stream.isReading, facts.tls == nil, listener.earlyRead.isDue() {
      let found = readEarly()
      listener.earlyRead.note(found: found)
      if found {
        if state.isWaiting, !hasDeadline { setDeadline(after: listener.settings.headerTimeout) }
        return
      }
    }
    setDeadline(after: listener.settings.headerTimeout)
    stream.startReading()
    if stream.hasReadAhead { streamReadable() }
  }

  // MARK: - Deadlines

  /// One deadline at a time: head, idle, body, sending or lingering, by phase. Its place in the loop's queue is moved only
  /// when it comes earlier, or has come, so that a busy connection pays nothing.
  func setDeadline(after duration: Duration) {
    guard phase != .closed else { return }
    let due = connections.loop.now.advanced(by: duration)
    let isEarlier = due < deadline
    (deadline, hasDeadline) = (due, true)
    guard isEarlier || !deadlinePlace.isTaken else { return }
    if let known = connections.deadlines.due(of: self), known <= due { return }
    connections.deadlines.set(self, due: due)
  }

  func clearDeadline() { hasDeadline = false }

  /// The client is to take something: it has `send-timeout` for that, counted from the first time it did not.
  func expectProgress() {
    if !hasDeadline { setDeadline(after: listener.settings.sendTimeout) }
  }

  func deadlinePassed() {
    guard phase != .closed, hasDeadline else { return }
    guard deadline <= connections.loop.now else { return connections.deadlines.set(self, due: deadline) }
    hasDeadline = false
    timeIsOver()
  }

  private func timeIsOver() {
    if keptBytes > 0, stream.bytesKept < keptBytes {
      // The client takes what TLS keeps for it, if slowly.
      keptBytes = stream.bytesKept
      return setDeadline(after: listener.settings.sendTimeout)
    }
    switch phase {
    case .undecided, .idle, .inHead:
      if input.isEmpty { return close() }
      refuse(status: 408, reason: "The request head did not arrive in time.")
    case .exchanging:
      switch state.turn.answer {
      case .awaited, .unheard: if contentIsUnended { contentTimeIsOver() }
      case .begun: endVisibly(BodyEnd(party: .client, reason: "send-timeout"))
      // The rest of a refused body took too long.
      case .sent: close()
      }
    case .flushing: cut()
    case .lingering: close()
    case .closed: break
    }
  }

  /// What the client could not send while it was held back is not held against it.
  func restartRequestBodyTime() {
    guard contentIsUnended, !hasResponded else { return }
    if !hasDeadline { contentMeter.restart() }
    setDeadline(after: (request?.route.minRate ?? .default).window)
  }

  private func contentTimeIsOver() {
    let rate = request?.route.minRate ?? .default
    let isUpload = exchange is UploadExchange
    switch RateFloor.decide(contentMeter, rate, isHeldBack: contentIsHeldBack, othersHoldUp: false, isUpload: isUpload)
    {
    case .waits: break
    case .goesOn:
      contentMeter.restart()
      setDeadline(after: rate.window)
    case .cut: clientBroke(RateFloor.end.reason)
    case .refuse:
      request?.record.end = RateFloor.end
      exchange?.clientLeft()
      exchange = nil
      refuse(status: RateFloor.refusal.status, reason: RateFloor.refusal.reason)
    }
  }

  /// The client speaks HTTP/2, by prior knowledge (RFC 9113 §3.3): all that it sent is the session's.
  func becomeHTTP2(_ received: [UInt8]) {
    state.close()
    connections.deadlines.remove(self)
    stream.stopReading()
    listener.takeParser(from: self)
    connections.dispatch.serveHTTP2(stream, facts, on: listener, after: self, received)
  }

  // MARK: - One request after the other

  /// A head has come, or begun to come: since when it is read.
  func headBegins() -> Monotonic {
    if state.headBegins() { requestBegan = connections.loop.now }
    return requestBegan
  }

  func headEnds() {
    state.headEnds()
    clearDeadline()
  }

  func logRequest() {
    guard let request else { return }
    connections.log(request, version: clientVersion)
    self.request = nil
  }
}
