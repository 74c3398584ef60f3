import PawlHTTP
import PawlLoop
import PawlObserve
import PawlWire

/// A client's HTTP/2 connection: moves bytes between the socket and the ``HTTP2Session``, begins the requests that came, pulls
/// answers in the session's order, and enforces the time limits of the connection.
///
/// Lives on one loop. Writing is in `HTTP2Connection+Writing`, the end in `HTTP2Connection+Ending`, the callbacks of the session
/// in `HTTP2Connection+Session`.
final class HTTP2Connection: StreamDelegate, ServedConnection {
  /// The life of the connection.
  enum Phase {
    case open
    /// No more requests are accepted. The session ends by itself once the present ones are answered.
    case draining
    /// The produced frames are still written; then FIN is sent.
    case ending
    /// FIN is sent. What still arrives is read and dropped, so that no RST destroys what was sent.
    case lingering
    case closed
  }

  /// The work in progress, which nested calls must not begin again.
  enum Activity { case none, receiving, pumping }

  /// The time after which pawl checks whether the client has acknowledged the SETTINGS.
  private static let settingsTime = Duration.seconds(11)
  /// The time after which pawl checks whether the client has reacted to the GOAWAY of a drain.
  static let drainTime = Duration.seconds(1)
  /// The limits of ``Phase/lingering``: bytes, and time.
  static let lingerBudget = 1 << 20
  static let lingerTime = Duration.seconds(5)
  /// The time limit of lingering while the server drains.
  static let drainLingerTime = Duration.seconds(1)

  let connections: LoopConnections
  let listener: ListenerOnLoop
  let stream: SocketStream
  let facts: ClientFacts
  let session: HTTP2Session
  var phase = Phase.open
  var place = ConnectionPlace()
  var life: (began: LoopCounter, ended: LoopCounter) { (.http2Began, .http2Ended) }

  // Reading
  private var received: [UInt8]
  var streams: [HTTP2StreamID: HTTP2Stream] = [:]
  /// Requests in the bytes that are being read. They begin once all of those bytes are parsed; requests that were reset within
  /// these bytes do not begin.
  var arrived: [HTTP2Stream] = []
  var activity = Activity.none
  /// Bytes of request content in memory that exchanges have not taken yet. While there are such bytes, other streams of the
  /// connection cannot use their credit.
  var heldContent = 0
  private var lingering = Lingering(budget: HTTP2Connection.lingerBudget)

  // Writing
  /// Produced bytes that the socket has not taken.
  var output: [UInt8] = []
  var outputSent = 0
  /// The numbers of bytes since the beginning of the connection: bytes that were produced, and bytes that the socket has taken.
  var produced: UInt64 = 0
  var written: UInt64 = 0
  /// Complete answers whose last bytes the socket has not taken, each with the value of ``written`` at which the answer is sent.
  var unsentAnswers: [(until: UInt64, stream: HTTP2Stream)] = []
  /// Requests whose answers are sent on the hot path, in the order of their arrival.
  var readyRequests: [HTTP2ReadyRequest] = []
  /// Whether a request was answered on the hot path since the last ``timeReady()``.
  var hasAnsweredReady = false

  // Time
  lazy var timer = connections.loop.makeTimer { [weak self] in self?.timerFired() }
  private var timerDue = Monotonic(nanoseconds: .max)
  /// The time since which no stream is open.
  var idleSince: Monotonic
  var hasServed = false
  /// The time since which the socket has taken none of the waiting bytes; `nil`: no bytes wait.
  var stuckSince: Monotonic?
  /// The time at which an ending connection is closed, even if bytes are still to be sent.
  var endBy: Monotonic?

  /// - Parameter received: bytes that were already read: on a connection without TLS, the HTTP/2 preface and what followed it.
  init(
    stream: SocketStream, facts: ClientFacts, listener: ListenerOnLoop, connections: LoopConnections,
    received: [UInt8] = []
  ) {
    (self.stream, self.facts, self.listener, self.connections) = (stream, facts, listener, connections)
    self.received = received
    var settings = listener.settings.http2 ?? HTTP2Settings()
    settings.isSecure = facts.tls != nil
    session = HTTP2Session(settings)
    idleSince = connections.loop.now
    session.delegate = self
    stream.delegate = self
  }

  /// Whether requests are accepted, or accepted requests are still answered.
  var isOpen: Bool { phase == .open || phase == .draining }

  func start() {
    stream.startReading()
    expect(within: listener.settings.headerTimeout)
    expect(within: Self.settingsTime)
    var bytes = received
    received = []
    // This also sends the server's connection preface, its SETTINGS.
    bytes.withUnsafeMutableBytes { receive($0) }
  }

  // MARK: - Reading

  func streamReadable() {
    switch phase {
    case .open, .draining: readFrames()
    case .ending, .lingering: readAndDrop()
    case .closed: break
    }
  }

  private func readFrames() {
    var buffer = connections.loop.takeReadBuffer()
    let limit = connections.loop.readLimit
    let result = buffer.withUnsafeMutableBytes {
      stream.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<limit]))
    }
    if case .bytes(let count) = result {
      buffer.withUnsafeMutableBytes { receive(UnsafeMutableRawBufferPointer(rebasing: $0[..<count])) }
    }
    connections.loop.giveReadBuffer(buffer)
    switch result {
    case .bytes, .wouldBlock: break
    // After FIN a client can neither send requests nor give credit. An HTTP/1.1 client may close only its own direction; an
    // HTTP/2 client always closes both.
    case .end: clientBroke("closed")
    case .failed(let code): clientBroke(errorName(code))
    }
  }

  private func receive(_ bytes: UnsafeMutableRawBufferPointer) {
    activity = .receiving
    let now = Int64(clamping: connections.loop.now.nanoseconds)
    let progress = bytes.isEmpty ? .goesOn : session.receive(movable: bytes, at: now)
    if case .goesOn = progress { beginArrived() }
    activity = .none
    arrived.removeAll(keepingCapacity: true)
    if case .ends(let reason) = progress { return ended(reason) }
    pump()
    timeReady()
  }

  /// Begins the requests that arrived. Requests with content have already begun at the first byte of their content.
  private func beginArrived() {
    var index = 0
    while index < arrived.count, isOpen {
      arrived[index].begin()
      index += 1
    }
    if index > 0 { hasServed = true }
  }

  private func readAndDrop() {
    switch lingering.read(on: connections.loop, { stream.read(into: $0) }) {
    case .goesOn: break
    case .ended:
      stream.stopReading()
      if phase == .lingering { close() }
    case .enough, .broken: close()
    }
  }

  // MARK: - Deadlines

  /// Makes sure that the time limits are checked within this time. The timer moves only when it has fired or has to fire earlier,
  /// so that a busy connection costs nothing.
  func expect(within duration: Duration) {
    let due = connections.loop.now.advanced(by: duration)
    if timer.isScheduled, timerDue <= due { return }
    timer.cancel()
    timerDue = due
    timer.schedule(after: max(.zero, duration))
  }

  private func timerFired() {
    switch phase {
    case .open, .draining: lookAtTime()
    case .ending, .lingering:
      let left = (endBy ?? connections.loop.now) - connections.loop.now
      left <= .zero ? close() : expect(within: left)
    case .closed: break
    }
  }

  private func lookAtTime() {
    let settings = listener.settings
    let now = connections.loop.now
    if case .ends(let reason) = session.check(at: Int64(clamping: now.nanoseconds)) { return ended(reason) }
    if phase == .draining { expect(within: Self.drainTime) }
    if let stuckSince, now - stuckSince >= settings.sendTimeout { return clientBroke("send-timeout") }
    if isIdle {
      let limit = hasServed ? settings.keepaliveTimeout : settings.headerTimeout
      if now - idleSince >= limit { return endInOrder() }
      expect(within: limit - (now - idleSince))
    }
    var next = stuckSince.map { settings.sendTimeout - (now - $0) }
    for stream in Array(streams.values) {
      guard let due = stream.sendingDue(now) else { continue }
      next = min(next ?? due, due)
    }
    if let due = cutStuckReady(now) { next = min(next ?? due, due) }
    if let next { expect(within: next) }
    pump()
  }
}
