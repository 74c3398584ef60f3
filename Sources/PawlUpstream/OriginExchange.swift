package import PawlHTTP
import PawlLoop
import PawlWire

/// One request to an origin and its response: waits for a place, connects, sends, receives, and gives the connection
/// back. Made by ``OriginPool/start(_:delegate:)``; lives on its loop.
package final class OriginExchange {
  enum Phase {
    case starting
    case queued(ConnectionLimit.Ticket)
    /// Has a place, and perhaps an idle connection.
    case granted(OriginConnection?)
    case dialling(OriginDial)
    case connected(OriginConnection)
    /// The delegate has the stream; the place is held until this exchange is cancelled or let go.
    case upgraded
    case ended
  }

  package let request: OriginRequest
  let pool: OriginPool
  // What every request touches several times, its loop alone and never from within itself, is not checked for exclusive
  // access: those checks were a twentieth of what a request that is passed on costs.
  @exclusivity(unchecked) var delegate: (any OriginExchangeDelegate)?
  @exclusivity(unchecked) private(set) var phase = Phase.starting
  private var isEntering = false
  private var grantedAt: Monotonic?
  private(set) var preferredURL = 0
  private var urlOrder: [Int]
  private var address: SocketAddress?
  private var hasAnnounced = false
  private var hasRetried = false
  private var hasSentBefore = false
  /// How much of the request had gone when what makes it whole was handed in.
  var heldBackAt: UInt64?

  @exclusivity(unchecked) var output: RequestOutput
  private var senderWaits = false
  private var flushed: (() -> Void)?
  /// The head, which goes first on the present connection, is held back.
  private var holdsHead = false
  @exclusivity(unchecked) var response = ResponseInput()
  @exclusivity(unchecked) private(set) var isPaused = false
  /// Octets of the response's content so far, without framing.
  package internal(set) var bodyBytesReceived: UInt64 = 0

  var patience = Patience.none
  /// For the wait for a place: a connection has a clock of its own.
  private var queueTimer: LoopTimer?
  /// What was received is being handed to the delegate: more may follow within the same call, and
  /// ``OriginExchangeDelegate/exchangeDelivered(_:)`` comes at its end unless the exchange has ended by then.
  package internal(set) var isDelivering = false
  /// Itself, until it has ended: nobody else need hold it.
  private var keeper: OriginExchange?

  init(_ request: consuming OriginRequest, pool: OriginPool, delegate: any OriginExchangeDelegate) {
    (self.pool, self.delegate) = (pool, delegate)
    output = RequestOutput(request.head.framing)
    self.request = request
    urlOrder = []
    keeper = self
  }

  deinit {
    if case .upgraded = phase { pool.ended(place, reusable: nil) }
  }

  /// The one that it has, to be given back.
  private var place: OriginPlace {
    let isQuick = grantedAt.map { loop.now - $0 < PlaceShares.quick } ?? false
    return OriginPlace(use: request.use, holder: request.holder, isQuick: isQuick)
  }

  var loop: EventLoop { pool.loop }
  var upstream: Upstream { pool.upstream }

  /// The clock of what is waited for; `nil` where nothing is.
  func patienceTimer() -> LoopTimer? {
    switch phase {
    case .connected(let connection): return connection.timer
    case .queued:
      let timer = queueTimer ?? loop.makeTimer { [weak self] in self?.ranOutOfPatience() }
      queueTimer = timer
      return timer
    case .starting, .granted, .dialling, .upgraded, .ended: return queueTimer
    }
  }

  /// The origin's address once connected, else the host of the URL; for logs.
  package var peer: String { address?.description ?? upstream.settings.urls[preferredURL].host }

  /// Whether none of the request's content has been taken, so that it could be sent again from its start.
  package var canBeRetried: Bool { !output.hasTakenBody }

  /// Whether any octet of the request was handed to a connection.
  package var requestBytesSent: Bool { hasSentBefore || output.sentOnConnection > 0 }

  // MARK: Request content

  /// Takes all of `bytes`. `false`: enough for now, until ``OriginExchangeDelegate/exchangeWantsBody(_:)``.
  /// Once the origin has refused the content by a final answer, or the exchange has ended, it is discarded.
  package func sendBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    send { () throws(RequestOutput.Misuse) in try output.append(bytes, to: stream) }
  }

  /// As ``sendBody(_:)``, of octets of a file, which go to the socket without passing through memory (`sendfile`).
  /// `false`: they are on their way; ``OriginExchangeDelegate/exchangeWantsBody(_:)`` comes when they are with the
  /// socket. Sending blocks where the file is not in the page cache.
  /// - Parameter owner: keeps the descriptor open; let go of when the octets have gone.
  package func sendFile(_ descriptor: CInt, at offset: UInt64, count: UInt64, keeping owner: AnyObject) -> Bool {
    let run = FileContent(descriptor: descriptor, offset: offset, count: count, owner: owner)
    return send { () throws(RequestOutput.Misuse) in try output.append(run, to: stream) }
  }

  private func send(_ append: () throws(RequestOutput.Misuse) -> RequestOutput.FlushResult) -> Bool {
    guard !isOver, !output.isStopped else { return true }
    do throws(RequestOutput.Misuse) {
      wrote(try append())
    } catch {
      misused("more content than the request announced")
      return false
    }
    senderWaits = output.pendingCount >= RequestOutput.highWater || output.hasFile
    return !senderWaits
  }

  /// Performs `action` once, in a later turn, when everything handed in so far is with the socket; never when the
  /// exchange ends or the origin refuses the content before that.
  package func whenFlushed(_ action: @escaping () -> Void) {
    guard !isOver else { return }
    flushed = action
    noteFlushed()
  }

  private func noteFlushed() {
    guard output.isFlushed, let action = flushed else { return }
    flushed = nil
    loop.nextTurn { [self] in
      guard !isOver, !output.isStopped else { return }
      action()
    }
  }

  /// The content is complete. Trailers go out only with chunked framing.
  package func finishBody(trailers: Fields = Fields()) {
    guard !isOver else { return }
    do {
      wrote(try output.finish(trailers, to: stream))
    } catch {
      misused("less content than the request announced")
    }
  }

  private func misused(_ details: String) {
    output.stop()
    loop.nextTurn { [self] in fail(ProxyError(.proxyInternalError, details: details)) }
  }

  private func wrote(_ result: RequestOutput.FlushResult, hasProgress: Bool = false) {
    switch result {
    case .drained: noteFlushed()
    case .blocked: stream?.wantWritable()
    case .failed: break
    case .unreadable(let why): loop.nextTurn { [self] in fail(ProxyError(.proxyInternalError, details: why)) }
    }
    updatePatience(hasProgress: hasProgress)
    judgeRest()
  }

  func streamWritable() {
    let (before, kept) = (output.sentOnConnection, output.keptByStream)
    wrote(output.flush(stream))
    if output.sentOnConnection > before || output.keptByStream < kept { updatePatience(hasProgress: true) }
    askForBody()
  }

  /// Tells a sender that waits to go on, when there is room or what it sends is discarded.
  func askForBody() {
    guard senderWaits, !isOver, output.pendingCount <= RequestOutput.lowWater, !output.hasFile else { return }
    senderWaits = false
    delegate?.exchangeWantsBody(self)
  }

  // MARK: Reading

  /// Stops reading from the origin; nothing of the response is delivered until ``resume()``.
  package func pause() {
    guard !isPaused else { return }
    isPaused = true
    stream?.stopReading()
    updatePatience(hasProgress: false)
  }

  package func resume() {
    guard isPaused else { return }
    isPaused = false
    guard stream != nil else { return }
    loop.nextTurn { [self] in continueReading() }
  }

  private func continueReading() {
    guard case .connected(let connection) = phase, !isPaused else { return }
    receiveHeld()
    guard isReceiving(on: connection) else { return }
    connection.stream.startReading()
    updatePatience(hasProgress: true)
  }

  // MARK: Ending

  /// Ends the exchange at once; the delegate hears nothing more. A running one's connection is closed; after an
  /// upgrade only the place in `max-connections` is given back, the stream is the delegate's.
  package func cancel() { _ = release(reusable: false) }

  var isOver: Bool {
    switch phase {
    case .upgraded, .ended: true
    case .starting, .queued, .granted, .dialling, .connected: false
    }
  }

  var stream: SocketStream? {
    guard case .connected(let connection) = phase else { return nil }
    return connection.stream
  }

  /// Whether the response may be delivered further.
  func isReceiving(on connection: OriginConnection) -> Bool {
    guard case .connected(let present) = phase else { return false }
    return present === connection && !isPaused && !response.isWhole
  }

  func fail(_ error: ProxyError) {
    guard !isOver else { return }
    var failure = OriginFailure(
      error: error, beforeHead: !response.hasFinalHead, requestBytesSent: requestBytesSent,
      lacksHeldBack: lacksHeldBack)
    (failure.requestWasWhole, failure.hasWholeAnswer) = (output.isSent, response.isWhole)
    release(reusable: false)?.exchange(self, broke: failure)
  }

  /// Lets go of everything; returns the delegate to be told.
  func release(reusable: Bool) -> (any OriginExchangeDelegate)? {
    let previous = phase
    phase = .ended
    queueTimer?.close()
    let heir = delegate
    delegate = nil
    flushed = nil
    output.stop()
    keeper = nil
    switch previous {
    case .starting, .ended: break
    case .queued(let ticket): pool.leave(ticket)
    case .granted(let connection): pool.ended(place, reusable: connection)
    case .dialling(let dial):
      dial.cancel()
      pool.ended(place, reusable: nil)
    case .connected(let connection):
      connection.end()
      // What TLS keeps would still go, though it counts as not sent.
      if !reusable {
        heldBackAt != nil && connection.stream.bytesKept > 0 ? connection.stream.reset() : connection.stream.close()
      }
      pool.ended(place, reusable: reusable ? connection : nil)
    case .upgraded: pool.ended(place, reusable: nil)
    }
    return heir
  }

  /// The stream is the delegate's from now on; the place stays held.
  func handOver(_ connection: OriginConnection, head: ResponseHead, leftover: [UInt8]) {
    let heir = delegate
    delegate = nil
    phase = .upgraded
    connection.end()
    connection.stream.stopReading()
    connection.stream.delegate = nil
    keeper = nil
    heir?.exchange(self, upgraded: connection.stream, head: head, leftover: leftover)
  }
}

// MARK: - Getting a connection

extension OriginExchange {
  /// Asks for a place; the delegate may hear of it within this call. Of an exchange that was only prepared; else does nothing. On the
  /// loop.
  package func begin() {
    guard case .starting = phase else { return }
    if upstream.settings.urls.count > 1 {
      urlOrder = upstream.urlOrder(at: loop.now)
      preferredURL = urlOrder[0]
    }
    isEntering = true
    pool.enter(self)
    isEntering = false
    switch phase {
    case .granted: proceed()
    case .queued: updatePatience(hasProgress: true)
    case .starting, .dialling, .connected, .upgraded, .ended: break
    }
  }

  func queued(_ ticket: ConnectionLimit.Ticket) { phase = .queued(ticket) }

  /// The place is this exchange's; never calls the delegate from within another exchange's end.
  func granted(_ connection: OriginConnection?) {
    phase = .granted(connection)
    grantedAt = loop.now
    queueTimer?.cancel()
    guard !isEntering else { return }
    loop.nextTurn { [self] in proceed() }
  }

  private func proceed() {
    guard case .granted(let connection) = phase else { return }
    guard let connection else { return dial() }
    if isFit(connection) {
      attach(connection)
    } else {
      connection.stream.close()
      dial()
    }
  }

  /// Octets that nobody asked for must not become the answer to this request, and a request that cannot be
  /// repeated is not given to an origin that has closed: one look, some 0.3 us. (An origin that closes meanwhile is why
  /// some requests want a connection of their own.)
  private func isFit(_ connection: OriginConnection) -> Bool {
    !request.wantsFreshConnection && connection.isUsable(at: loop.now) && connection.isQuiet()
  }

  private func dial() {
    let dial = OriginDial(upstream: upstream, loop: loop, urls: urlOrder.isEmpty ? [0] : urlOrder) {
      [weak self] result in
      self?.dialled(result)
    }
    phase = .dialling(dial)
    updatePatience(hasProgress: true)
    dial.start()
  }

  private func dialled(_ result: Result<OriginConnection, ProxyError>) {
    guard case .dialling = phase else { return }
    switch result {
    case .success(let connection): attach(connection)
    case .failure(let error): fail(error)
    }
  }

  private func attach(_ connection: OriginConnection) {
    phase = .connected(connection)
    address = connection.peer
    connection.begin(self)
    if response.hasBegun { response.restart() }
    isPaused ? connection.stream.stopReading() : connection.stream.startReading()
    if request.holdsHead, !hasAnnounced {
      holdsHead = true
      updatePatience(hasProgress: true)
    } else {
      sendHead(on: connection)
      wrote(output.flush(connection.stream), hasProgress: true)
    }
    guard !hasAnnounced else { return askForBody() }
    hasAnnounced = true
    delegate?.exchangeConnected(self)
    askForBody()
  }

  /// Sends the head that ``OriginRequest/holdsHead`` kept back.
  package func releaseHead() {
    guard holdsHead else { return }
    holdsHead = false
    guard case .connected(let connection) = phase else { return }
    sendHead(on: connection)
    wrote(output.flush(connection.stream), hasProgress: true)
  }

  private func sendHead(on connection: OriginConnection) {
    let base = upstream.settings.urls[connection.url].basePath
    guard !base.isEmpty else { return output.connect(request.head) }
    var head = request.head
    head.target = Array(base.utf8)[...] + head.target
    output.connect(head)
  }

  /// RFC 9112 §9.3.1: once, for a reused connection that closed before any octet of a response.
  func retry(after connection: OriginConnection) -> Bool {
    let isRepeatable = request.head.method.isIdempotent && !output.hasTakenBody
    guard connection.isReused, !hasRetried, isRepeatable else { return false }
    (hasRetried, hasSentBefore) = (true, requestBytesSent)
    connection.end()
    connection.stream.close()
    output.disconnect()
    dial()
    return true
  }
}
