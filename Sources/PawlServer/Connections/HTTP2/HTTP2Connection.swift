import PawlHTTP
import PawlLoop
import PawlWire

/// One client's connection on which HTTP/2 is spoken: moves bytes between the socket and the ``HTTP2Session``, begins
/// the requests that came, pulls answers in the session's order, and keeps the time limits that belong to the whole
/// connection. Lives on one loop. Writing is in `HTTP2Connection+Writing`, its end in `HTTP2Connection+Ending`, what the
/// session tells in `HTTP2Connection+Session`.
final class HTTP2Connection: StreamDelegate, ServedConnection {
  /// The life of the connection.
  enum Phase {
    case open
    /// The same, and no more requests are to come: the session ends by itself when those that are here are answered.
    case draining
    /// What is produced still goes out; then FIN.
    case ending
    /// FIN is sent; what still arrives is read and dropped, so that no RST overtakes what was sent.
    case lingering
    case closed
  }

  /// What it is doing, which calls from within are not to do again.
  enum Activity { case none, receiving, pumping }

  /// When it is looked whether the client has acknowledged the settings.
  private static let settingsTime = Duration.seconds(11)
  /// The same for its answer to the announcement of the end.
  static let drainTime = Duration.seconds(1)
  /// Bytes, and time, in which what still arrives after the end is dropped.
  static let lingerBudget = 1 << 20
  static let lingerTime = Duration.seconds(5)
  /// The time where the whole server waits for it.
  static let drainLingerTime = Duration.seconds(1)

  let connections: LoopConnections
  let listener: ListenerOnLoop
  let stream: SocketStream
  let facts: ClientFacts
  let session: HTTP2Session
  var phase = Phase.open
  var place = ConnectionPlace()

  // Reading
  private var received: [UInt8]
  var streams: [HTTP2StreamID: HTTP2Stream] = [:]
  /// Requests that came within what is being read: begun after it, those that were reset meanwhile not at all.
  var arrived: [HTTP2Stream] = []
  var activity = Activity.none
  /// Request content in memory that exchanges have not taken yet: while there is some, its credit is missing to others.
  var heldContent = 0
  private var lingering = Lingering(budget: HTTP2Connection.lingerBudget)

  // Writing
  /// Produced, and not taken by the socket.
  var output: [UInt8] = []
  var outputSent = 0
  /// Bytes over the whole connection: produced, and taken by the socket.
  var produced: UInt64 = 0
  var written: UInt64 = 0
  /// Answers that are complete and whose last bytes the socket has not taken, with the count at which it has.
  var unsentAnswers: [(until: UInt64, stream: HTTP2Stream)] = []
  /// Those whose answers are sent on the short way, in the order they were asked.
  var readyRequests: [HTTP2ReadyRequest] = []
  /// Since ``timeReady()``.
  var hasAnsweredReady = false

  // Time
  lazy var timer = connections.loop.makeTimer { [weak self] in self?.timerFired() }
  private var timerDue = Monotonic(nanoseconds: .max)
  /// Since when no stream is open.
  var idleSince: Monotonic
  var hasServed = false
  /// Since when the socket has taken nothing of what it is to take.
  var stuckSince: Monotonic?
  /// Once the connection ends: when it is closed, whatever is left.
  var endBy: Monotonic?

  /// - Parameter received: bytes that were read already: the preface where it was recognised in clear.
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

  /// Requests are taken, or those that were are answered.
  var isOpen: Bool { phase == .open || phase == .draining }

  func start() {
    stream.startReading()
    expect(within: listener.settings.headerTimeout)
    expect(within: Self.settingsTime)
    var bytes = received
    received = []
    // Also the server's own preface, its SETTINGS, goes out.
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
    // Without its side a client can neither ask nor give credit: unlike in HTTP/1.1 nobody ends only that.
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

  /// Those that brought content have begun with it.
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

  /// The connection is looked at again within this time. The timer is moved only when it fires or has to fire earlier,
  /// so that a busy connection pays nothing.
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
