import PawlBase
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlWire

/// Who finds the answer to a request: the top of the loop, which knows every kind of exchange.
protocol RequestDispatch: AnyObject {
  /// Who answers the request.
  func makeExchange(for request: IncomingRequest, channel: any ResponseChannel) -> any Exchange
  /// Whether the content is for an upload that a client knows already.
  func appends(_ head: RequestHead) -> Bool
  /// From here on the client speaks HTTP: the version that its handshake chose.
  /// - Parameter opening: what the connection was until now, and counted as.
  func serve(_ stream: SocketStream, _ facts: ClientFacts, on listener: ListenerOnLoop, after opening: Opening?)
  /// The client has shown that it speaks HTTP/2, by prior knowledge (RFC 9113 §3.3).
  /// - Parameters:
  ///   - connection: what the connection was until now, and counted as.
  ///   - received: what the client has sent, all of which is the session's.
  func serveHTTP2(
    _ stream: SocketStream, _ facts: ClientFacts, on listener: ListenerOnLoop, after connection: any ServedConnection,
    _ received: [UInt8])
  /// One connection is closed, and counts no more.
  func connectionEnded()
}

/// The clients' connections of one loop, and what they share. Touched on that loop only.
final class LoopConnections {
  let services: LoopServices
  let loop: EventLoop
  let downloads: LoopDownloads
  let admission: ConnectionAdmission
  /// Outlives all connections.
  unowned let dispatch: any RequestDispatch
  /// `nil`: `access-log = off`.
  let accessLog: AccessLog?
  let clock: any LoopClock
  var members = ConnectionList()
  let deadlines: DeadlineQueue<HTTP1Connection>
  /// Of connections on which HTTP is not spoken yet.
  let openings: DeadlineQueue<Opening>
  var tunnels: [ObjectIdentifier: Tunnel] = [:]
  /// The server ends: nothing is asked any more on a connection whose answer has been given.
  var isDraining = false
  private var hotBuffer: [UInt8] = []
  /// Of connections that are idle again; at most ``BusyState/sparesLimit``.
  @exclusivity(unchecked) var spareStates: [BusyState] = []

  var events: EventLog { services.events }
  var pool: WorkerPool { services.pool }
  var dateField: [UInt8] { services.dateField }

  init(_ downloads: LoopDownloads, admission: ConnectionAdmission, dispatch: any RequestDispatch) {
    (self.downloads, services, loop) = (downloads, downloads.services, downloads.loop)
    (self.admission, self.dispatch) = (admission, dispatch)
    (accessLog, clock) = (services.shared.accessLog, services.shared.clock)
    deadlines = DeadlineQueue(loop: loop)
    openings = DeadlineQueue(loop: loop)
  }

  func connectionClosed(_ connection: any ServedConnection) {
    guard members.remove(connection) else { return }
    admission.release()
    dispatch.connectionEnded()
  }

  // MARK: - Requests

  /// - Parameters:
  ///   - id: that was told to the client already.
  ///   - known: what was looked up for it within this turn.
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
    return request
  }

  /// The one that the request brought, or a new one.
  private func requestID(_ fields: Fields) -> [UInt8] {
    if let own = fields.only(.xRequestID) { return Array(own) }
    return services.requestIDs.make()
  }

  // MARK: - Buffers

  /// Where an answer from memory is put together.
  func takeHotBuffer() -> [UInt8] {
    var buffer: [UInt8] = []
    swap(&buffer, &hotBuffer)
    if buffer.capacity == 0 { buffer.reserveCapacity(64 << 10) }
    return buffer
  }

  func giveHotBuffer(_ buffer: consuming [UInt8]) { hotBuffer = buffer }

  // MARK: - Ending

  /// Each ends when it has answered what it was asked.
  func drain() {
    isDraining = true
    for connection in members.all { connection.drain() }
  }

  /// The time for draining is over: what still runs is cut.
  func abandon() {
    for tunnel in Array(tunnels.values) { tunnel.over() }
    for connection in members.all { connection.abandonAll(BodyEnd(party: .pawl, reason: "shutdown")) }
  }

  /// They hold the loop, and their streams and their deadlines hold them.
  func letGo() {
    isDraining = true
    deadlines.removeAll()
    openings.removeAll()
    for connection in members.all { connection.stream.delegate = nil }
    members.removeAll()
  }

  // MARK: - What is seen from outside

  func noteCut(_ request: IncomingRequest?, _ end: BodyEnd) {
    guard let request else { return }
    events.log(
      .warning, "transfer-cut",
      [
        "by": end.party.rawValue, "why": end.reason, "target": request.shown(request.head.target).text,
        "sent": "\(request.record.bytesSent)", "request": String(decoding: request.requestID, as: UTF8.self),
      ])
  }

  func log(_ request: IncomingRequest, version: HTTPVersion) {
    guard let accessLog else { return }
    accessLog.write(AccessRecord(request, version: version, now: loop.now, wall: clock.wallMilliseconds()))
  }

  /// - Parameter facts: of the connection on which something came that never became a request.
  func logRefusal(_ facts: ClientFacts, status: Int, bytes: Int) {
    guard let accessLog else { return }
    accessLog.write(AccessRecord(refused: status, bytes: bytes, peer: facts.client, wall: clock.wallMilliseconds()))
  }
}
