import PawlHTTP
import PawlLoop
import PawlWire

/// One request to an origin and its response: waits for a place, connects, sends, receives, and gives the connection
/// back. Made by ``OriginPool/start(_:delegate:)``; lives on its loop.
package final class OriginExchange {
  enum Phase {
    case starting
    /// Asks for a place, within ``begin()``.
    case entering
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
  @exclusivity(unchecked) var phase = Phase.starting
  var grantedAt: Monotonic?
  /// The one that is to be asked, then the one that is.
  var preferredURL = 0
  /// Empty where there is one.
  var urlOrder: [Int]
  var address: SocketAddress?
  var attempts = ConnectionTries()
  /// How much of the request had gone when what makes it whole was handed in.
  var heldBackAt: UInt64?

  @exclusivity(unchecked) var output: RequestOutput
  var senderWaits = false
  var flushed: (() -> Void)?
  @exclusivity(unchecked) var response = ResponseInput()
  @exclusivity(unchecked) private(set) var isPaused = false
  /// Bytes of the response's content so far, without framing.
  package internal(set) var bodyBytesReceived: UInt64 = 0

  /// Its answer goes on as long as somebody listens, or it is a tunnel: it has no place of `max-connections`.
  @exclusivity(unchecked) package internal(set) var isLive = false
  var patience = Patience.none
  /// For the wait for a place: a connection has a clock of its own.
  var queueTimer: LoopTimer?
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
    guard case .upgraded = phase else { return }
    leaveNode()
    givePlaceBack(nil)
  }

  /// The one that it has, to be given back.
  var place: OriginPlace {
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
    case .starting, .entering, .granted, .dialling, .upgraded, .ended: return queueTimer
    }
  }

  /// Index of the URL that it is connected to.
  package var url: Int? {
    guard case .connected(let connection) = phase else { return nil }
    return connection.url
  }

  /// The origin's address once connected, else the host of the URL; for logs.
  package var peer: String { address?.description ?? upstream.settings.urls[preferredURL].host }

  /// Whether any byte of the request was handed to a connection.
  package var requestBytesSent: Bool { attempts.retry == .usedSent || output.sentOnConnection > 0 }

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
    case .starting, .entering, .queued, .granted, .dialling, .connected: false
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
    failure.requestWasWhole = output.isSent
    if response.isWhole { failure.answer = .whole }
    if upstream.hasSeveralNodes { noteBreak(error) }
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
    leaveNode()
    switch previous {
    case .starting, .entering, .ended: break
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
      givePlaceBack(reusable ? connection : nil)
    case .upgraded: givePlaceBack(nil)
    }
    return heir
  }

  /// The stream is the delegate's from now on; it counts as long as this is there.
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
