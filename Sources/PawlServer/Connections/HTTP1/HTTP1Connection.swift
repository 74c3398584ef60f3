import PawlHTTP
import PawlLoop
import PawlObserve
import PawlWire

/// A client's HTTP/1.1 connection: reads heads and bodies, keeps requests in order, pulls answers from their sources, enforces
/// the time limits, and ends visibly what cannot be finished.
///
/// Lives on one loop. Reading is in `HTTP1Connection+Reading`, answering in `HTTP1Connection+Answer`, writing in
/// `HTTP1Connection+Writing`, the end of the connection in `HTTP1Connection+Ending`.
final class HTTP1Connection: StreamDelegate, ServedConnection, DeadlineHolder {
  // Ten thousand connections may be idle, and must be small: what belongs to a request is in `BusyState`, and one-byte fields are
  // side by side.

  /// A reference cycle until the connection is closed or the loop ends.
  let connections: LoopConnections
  let listener: ListenerOnLoop
  let stream: SocketStream
  let facts: ClientFacts
  /// Bytes that are received and not used yet: a part of a head, or pipelined requests.
  @exclusivity(unchecked) var input: [UInt8] = []
  /// The state of the request; `nil` while no request is being answered.
  @exclusivity(unchecked) var busy: BusyState?
  /// The time at which the first byte of the head being read, or of the request being answered, came.
  private(set) var requestBegan: Monotonic
  @exclusivity(unchecked) var state: HTTP1State
  /// The last deadline that was set; it applies while ``hasDeadline`` is `true`.
  private var deadline = Monotonic(nanoseconds: 0)
  @exclusivity(unchecked) var deadlinePlace = DeadlinePlace()
  var place = ConnectionPlace()
  var life: (began: LoopCounter, ended: LoopCounter) { (.http1Began, .http1Ended) }
  private var hasDeadline = false
  /// Whether messages are being parsed from the input. If the answer to one of them is complete at once, ``awaitRequest()`` is
  /// called during the parsing, and must not parse further messages itself.
  var isConsuming = false
  /// Whether ``pump()`` is running. An answer that begins within ``pump()`` must not call it again.
  var isPumping = false

  var phase: HTTP1State.Phase { state.phase }
  var hasResponded: Bool { state.hasResponded }
  var hasClientEnded: Bool { state.hasClientEnded }
  var clientVersion: HTTPVersion { state.turn.version }

  init(stream: SocketStream, facts: ClientFacts, listener: ListenerOnLoop, connections: LoopConnections) {
    (self.stream, self.facts, self.listener, self.connections) = (stream, facts, listener, connections)
    requestBegan = connections.loop.now
    // Over TLS the handshake has chosen the version of HTTP.
    state = HTTP1State()
    stream.keep(self)
  }

  /// Starts to serve. Without TLS, a request that came with the connection is answered before the kernel is told to watch the
  /// socket (``EarlyRead``). Over TLS, a request that came with the client's last bytes of the handshake is answered at once; the
  /// session tickets are then sent with the answer.
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

  /// Sets the connection's deadline. The phase decides what the deadline limits: the head, the idle time, the body, sending or
  /// lingering. The connection moves in the loop's queue only if the new deadline is earlier or the old one has passed, so that
  /// a busy connection costs nothing.
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

  /// Starts `send-timeout` when the socket is full. Further calls while it stays full do not start it anew.
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
      // The client takes the encrypted bytes, but slowly.
      keptBytes = stream.bytesKept
      return setDeadline(after: listener.settings.sendTimeout)
    }
    switch phase {
    case .fresh, .idle, .inHead:
      if input.isEmpty { return close() }
      refuse(status: 408, reason: "The request head did not arrive in time.", input[...])
    case .exchanging:
      switch state.turn.answer {
      case .awaited, .unheard: contentIsUnended ? contentTimeIsOver() : lookAtHalfClosed()
      case .begun: endVisibly(BodyEnd(party: .client, reason: "send-timeout"))
      // The rest of the unwanted content took too long.
      case .sent: close()
      }
    case .flushing: cut()
    case .lingering: request == nil ? close() : lookForAcknowledgement()
    case .closed: break
    }
  }

  /// Restarts the time limit of the request's content. The time in which pawl held the client back does not count.
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
    case .cut:
      connections.counters.add(.rejectedMinRate)
      clientBroke(RateFloor.end.reason)
    case .refuse:
      connections.counters.add(.rejectedMinRate)
      request?.record.end = RateFloor.end
      exchange?.clientLeft()
      exchange = nil
      refuse(status: RateFloor.refusal.status, reason: RateFloor.refusal.reason)
    }
  }

  /// Hands the connection over to HTTP/2 by prior knowledge (RFC 9113 §3.3). All received bytes go to the session.
  func becomeHTTP2(_ received: [UInt8]) {
    state.close()
    connections.deadlines.remove(self)
    stream.stopReading()
    listener.takeParser(from: self)
    connections.dispatch.serveHTTP2(stream, facts, on: listener, after: self, received)
  }

  // MARK: - One request after the other

  /// Notes that a head has begun, and returns when its first byte came.
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
