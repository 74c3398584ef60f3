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
    /// The delegate has the stream, which counts in `max-live-connections` until this exchange is cancelled or deallocated.
    case upgraded
    case ended
  }

  package let request: OriginRequest
  let pool: OriginPool
  // Each request uses these properties several times, only on its loop and never reentrantly. They are not checked for exclusive
  // access, since the checks cost a twentieth of a relayed request.
  @exclusivity(unchecked) var delegate: (any OriginExchangeDelegate)?
  @exclusivity(unchecked) var phase = Phase.starting
  var grantedAt: Monotonic?
  /// When the head of the request was sent last.
  var sentAt: Monotonic?
  /// Index of the URL chosen for this exchange; once it is connected, of the URL it is connected to.
  var preferredURL = 0
  /// Indices of the URLs to try, in this order. Empty if the upstream has only one URL, before ``begin()``, and after
  /// ``leaveNode()``.
  var urlOrder: [Int]
  var address: SocketAddress?
  var attempts = ConnectionTries()
  /// How many bytes of the request were sent when ``markHeldBack()`` was called; `nil`: it was not called.
  var heldBackAt: UInt64?

  @exclusivity(unchecked) var output: RequestOutput
  var senderWaits = false
  var flushed: (() -> Void)?
  @exclusivity(unchecked) var response = ResponseInput()
  @exclusivity(unchecked) private(set) var isPaused = false
  /// The length of the head that was sent last.
  var headCount: UInt64 = 0
  /// Bytes of the request's content that the present connection's socket has taken, with framing.
  package var contentBytesSent: UInt64 { output.sentOnConnection - min(output.sentOnConnection, headCount) }
  /// Bytes of the response's content so far, without framing.
  package internal(set) var bodyBytesReceived: UInt64 = 0

  /// Whether the exchange is long-lived: an event stream, or a tunnel. A long-lived exchange holds no place of `max-connections`.
  @exclusivity(unchecked) package internal(set) var isLive = false
  var patience = Patience.none
  /// The timer of the wait for a place. Each connection has its own timer.
  var queueTimer: LoopTimer?
  /// What the delegate does about a failure, which it may say while it is told of it; for the log. `nil`: what is usual.
  package var remedy: OriginTrouble.Next?
  /// Whether received bytes are being handed to the delegate. More calls of the delegate may follow at once;
  /// ``OriginExchangeDelegate/exchangeDelivered(_:)`` is the last of them, unless the exchange has ended by then.
  package internal(set) var isDelivering = false
  /// A reference from the exchange to itself until it has ended, so that the caller need not retain the exchange.
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

  /// The place that the exchange holds, in the form in which ``OriginPool`` takes it back.
  var place: OriginPlace {
    let isQuick = grantedAt.map { loop.now - $0 < PlaceShares.quick } ?? false
    return OriginPlace(use: request.use, holder: request.holder, isQuick: isQuick)
  }

  var loop: EventLoop { pool.loop }
  var upstream: Upstream { pool.upstream }

  /// Returns the timer for what the exchange waits for now; `nil`: there is no timer.
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

  /// Index of the URL that the exchange is connected to.
  package var url: Int? {
    guard case .connected(let connection) = phase else { return nil }
    return connection.url
  }

  /// The origin's address once the exchange is connected or has tried to, before that host and port of the URL; for logs. A unix
  /// socket is written as nginx does: `unix:/path`.
  package var peer: String {
    let url = upstream.settings.urls[preferredURL]
    if url.isUnix { return "unix:\(url.host)" }
    return address?.description ?? "\(url.host):\(url.port)"
  }

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

  /// Ends the exchange at once; the delegate is not called any more. The connection is closed. If it was upgraded, the stream stays
  /// with the delegate instead, and no longer counts in `max-live-connections`.
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

  /// Whether more of the response may be delivered.
  func isReceiving(on connection: OriginConnection) -> Bool {
    guard case .connected(let present) = phase else { return false }
    return present === connection && !isPaused && !response.isWhole
  }

  /// Ends the exchange with an error.
  /// - Parameter isReset: whether the connection broke, and was not closed by the origin.
  func fail(_ error: ProxyError, isReset: Bool = false) {
    guard !isOver else { return }
    count(error)
    let asked = url ?? preferredURL
    var failure = OriginFailure(
      error: error, beforeHead: !response.hasFinalHead, requestBytesSent: requestBytesSent,
      lacksHeldBack: lacksHeldBack)
    failure.requestWasWhole = output.isSent
    if response.isWhole { failure.answer = .whole }
    noteBreak(error)
    guard let delegate = release(reusable: false) else { return }
    delegate.exchange(self, broke: failure)
    let usual = failure.beforeHead ? OriginTrouble.Next.answers(error.status) : .cuts
    upstream.tell(OriginTrouble(error, url: asked, requestID: requestID, isReset: isReset, next: remedy ?? usual))
  }

  /// The time since the exchange got its place, in microseconds; 0 before that.
  package var microseconds: UInt64 { grantedAt.map { loop.now.microseconds(since: $0) } ?? 0 }

  /// The identifier of the request, for the log; empty if it holds a path, which may be the URL of an upload.
  var requestID: [UInt8] {
    guard let id = request.head.fields.first(.xRequestID), !id.contains(0x2f), !id.contains(0x25) else { return [] }
    return Array(id)
  }

  /// Ends the exchange and releases all that it holds. Returns the delegate, which the caller has to tell of the end.
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
      // A plain close would still send the TLS records that the stream keeps. But these records count as not sent
      // (``lacksHeldBack``).
      if !reusable {
        heldBackAt != nil && connection.stream.bytesKept > 0 ? connection.stream.reset() : connection.stream.close()
      }
      givePlaceBack(reusable ? connection : nil)
    case .upgraded: givePlaceBack(nil)
    }
    return heir
  }

  /// Hands the stream to the delegate. The stream counts in `max-live-connections` until the exchange is cancelled or deallocated.
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
