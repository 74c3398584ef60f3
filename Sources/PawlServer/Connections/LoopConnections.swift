import PawlBase
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlWire

/// Makes the exchange for each request, and starts HTTP on new connections. Implemented by ``ServerLoop``, which has every kind
/// of exchange.
protocol RequestDispatch: AnyObject {
  /// Makes the exchange that answers the request.
  func makeExchange(for request: IncomingRequest, channel: any ResponseChannel) -> any Exchange
  /// Whether the request appends content to an existing upload.
  func appends(_ head: RequestHead) -> Bool
  /// Starts to serve HTTP, in the version that the TLS handshake chose.
  /// - Parameter opening: the object that stood for the connection during the PROXY header and the TLS handshake. The HTTP
  ///   connection takes its place in ``LoopConnections/members``. `nil` if the connection began with HTTP.
  func serve(_ stream: SocketStream, _ facts: ClientFacts, on listener: ListenerOnLoop, after opening: Opening?)
  /// Starts to serve HTTP/2 by prior knowledge (RFC 9113 §3.3).
  /// - Parameters:
  ///   - connection: the HTTP/1.1 connection that had the stream until now. The HTTP/2 connection takes its place in
  ///     ``LoopConnections/members``.
  ///   - received: all bytes received so far; the HTTP/2 session parses them.
  func serveHTTP2(
    _ stream: SocketStream, _ facts: ClientFacts, on listener: ListenerOnLoop, after connection: any ServedConnection,
    _ received: [UInt8])
  /// Notes that a connection is closed and no longer counted.
  func connectionEnded()
}

/// The client connections of one loop and what they share. Touched on that loop only.
final class LoopConnections {
  let services: LoopServices
  let loop: EventLoop
  let downloads: LoopDownloads
  let admission: ConnectionAdmission
  /// Unowned, because the ``ServerLoop`` outlives all connections.
  unowned let dispatch: any RequestDispatch
  let clock: any LoopClock
  let counters: LoopCounters
  var members = ConnectionList()
  let deadlines: DeadlineQueue<HTTP1Connection>
  /// The deadlines of connections that do not speak HTTP yet.
  let openings: DeadlineQueue<Opening>
  var tunnels: [ObjectIdentifier: Tunnel] = [:]
  /// Whether the server drains: a connection accepts no further request after its present answer.
  var isDraining = false
  private var hotBuffer: [UInt8] = []
  /// ``BusyState`` objects of connections that became idle, kept for reuse; at most ``BusyState/sparesLimit``.
  @exclusivity(unchecked) var spareStates: [BusyState] = []

  var events: EventLog { services.events }
  var pool: WorkerPool { services.pool }
  var dateField: [UInt8] { services.dateField }

  init(_ downloads: LoopDownloads, admission: ConnectionAdmission, dispatch: any RequestDispatch) {
    (self.downloads, services, loop) = (downloads, downloads.services, downloads.loop)
    (self.admission, self.dispatch) = (admission, dispatch)
    clock = services.shared.clock
    counters = services.counters
    deadlines = DeadlineQueue(loop: loop)
    openings = DeadlineQueue(loop: loop)
  }

  func add(_ connection: any ServedConnection) {
    members.add(connection)
    counters.add(connection.life.began)
  }

  /// Removes a connection, because it is closed, or another one takes its place. Returns `false` if it was removed already.
  @discardableResult
  func remove(_ connection: any ServedConnection) -> Bool {
    guard members.remove(connection) else { return false }
    counters.add(connection.life.ended)
    return true
  }

  func connectionClosed(_ connection: any ServedConnection) {
    guard remove(connection) else { return }
    admission.release()
    dispatch.connectionEnded()
  }

  // MARK: - Requests

  /// Makes a request from its head: adds the identifier, the route and the client certificate.
  /// - Parameters:
  ///   - id: the identifier that was already sent to the client, if any.
  ///   - known: what was looked up for this request in the same turn of the loop.
  func makeRequest(
    _ head: consuming RequestHead, facts: ClientFacts, began: Monotonic, id: [UInt8]? = nil, known: LookedUp? = nil
  ) -> IncomingRequest {
    var head = head
    let id = id ?? requestID(head.fields)
    let router = services.router
    let route = known?.route ?? router.route(authority: head.authority, target: head.target)
    ClientCertificateField.set(&head.fields, facts, isWanted: route?.tellsClientCertificate ?? false)
    var record = TransferRecord(began: began)
    record.upstream = route?.upstreamName ?? "-"
    let request = IncomingRequest(
      head: consume head, route: route ?? router.noRoute, loop: services, facts: facts, requestID: id,
      isRouted: route != nil, record: record)
    request.resource = known?.resource
    request.counts(as: request.hasContent ? .upload : .download)
    return request
  }

  /// Makes the exchange that answers the request. A probe of the listener is answered at once, whatever its host.
  func makeExchange(
    for request: IncomingRequest, channel: any ResponseChannel, on listener: ListenerOnLoop
  ) -> any Exchange {
    if let path = listener.settings.healthPath, request.head.method.isRetrieval,
      RequestTarget.path(of: request.head.target).elementsEqual(path)
    {
      return ReplyExchange(Replies.health(isDraining: isDraining), request, channel)
    }
    return dispatch.makeExchange(for: request, channel: channel)
  }

  /// The identifier in the request, or a new one. The URL of an upload in it is hidden, since it is for logs.
  private func requestID(_ fields: Fields) -> [UInt8] {
    if let own = fields.only(.xRequestID) { return Array(services.shown(own)) }
    return services.requestIDs.make()
  }

  // MARK: - Buffers

  /// Returns the loop's only buffer for assembling an answer; ``giveHotBuffer(_:)`` takes it back.
  func takeHotBuffer() -> [UInt8] {
    var buffer: [UInt8] = []
    swap(&buffer, &hotBuffer)
    if buffer.capacity == 0 { buffer.reserveCapacity(64 << 10) }
    return buffer
  }

  func giveHotBuffer(_ buffer: consuming [UInt8]) { hotBuffer = buffer }

  // MARK: - Ending

  /// How long a connection without a request may stay in a drain, so that a client that connected just before gets an answer.
  static let endGrace = Duration.seconds(1)
  /// The same for the present drain; `nil`: as long as without a drain (`header-timeout`), because a new process serves already, and
  /// nobody waits for the end of this one.
  private(set) var drainGrace: Duration?

  /// Drains: each connection ends once its present requests are answered.
  /// - Parameter isReplaced: whether a new process takes over.
  func drain(isReplaced: Bool) {
    isDraining = true
    drainGrace = isReplaced ? nil : Self.endGrace
    for connection in members.all { connection.drain() }
  }

  /// Cuts everything that still runs, without a delay. Called when `drain-timeout` is over, or after a second signal.
  func abandon() {
    for tunnel in Array(tunnels.values) { tunnel.over() }
    for connection in members.all { connection.abandonAll(BodyEnd(party: .pawl, reason: "shutdown")) }
  }

  /// Breaks the reference cycles before the loop stops: connections hold this object, and their streams and deadlines hold the
  /// connections.
  func letGo() {
    isDraining = true
    deadlines.removeAll()
    openings.removeAll()
    for connection in members.all { connection.stream.delegate = nil }
    members.removeAll()
  }

  // MARK: - Logs

  func noteCut(_ request: IncomingRequest?, _ end: BodyEnd) {
    guard let request else { return }
    let record = request.record
    logCut(
      end, request.shown(request.head.target), id: request.requestID[...], sent: record.bytesSent, of: record.announced,
      client: request.clientAddress[...], upstream: record.upstream, takesRanges: record.takesRanges)
  }

  /// Logs that an answer was cut. Clients leave all the time, so that is of the level `info`.
  /// - Parameter target: without secrets.
  func logCut(
    _ end: BodyEnd, _ target: @autoclosure () -> Bytes, id: @autoclosure () -> Bytes, sent: UInt64, of total: UInt64?,
    client: @autoclosure () -> Bytes, upstream: String, takesRanges: Bool
  ) {
    events.log(
      end.party == .client ? .info : .warning, "transfer-cut",
      [
        "by": end.party.rawValue, "why": end.reason, "target": target().text, "sent": "\(sent)",
        "request": id().text, "of": total.map { "\($0)" } ?? "-", "client": client().text, "upstream": upstream,
        "next": takesRanges
          ? "the client can ask for the rest (Range)" : "the client has to start again: no ranges were offered",
      ])
  }

  /// Counts a request that is over, and writes its line of the access log.
  func log(_ request: IncomingRequest, version: HTTPVersion) {
    request.countEnd(at: loop.now)
    request.logExplanation()
    guard let accessLog = services.accessLog else { return }
    accessLog.write(AccessRecord(request, version: version, now: loop.now, wall: clock.wallMilliseconds()))
  }
}
