import PawlCache
import PawlConfig
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlStore
import PawlUpstream
import PawlWire

/// What one event loop has of the server: its listeners, connections, fills and pools. Touched on that loop only.
final class ServerLoop {
  let loop: EventLoop
  /// Each holds the other until the loops have stopped: a weak or unowned reference would be counted at every use, which two
  /// loops pay for by turns.
  let server: Server
  var router: Router
  var listeners: [ListenerOnLoop] = []
  var connections = ConnectionList()
  let deadlines: DeadlineQueue<ClientConnection>
  var tunnels: [ObjectIdentifier: Tunnel] = [:]
  var fills: [ObjectIdentifier: Fill] = [:]
  var fetches: [ObjectIdentifier: CollapsedFetch] = [:]
  var twins: [ObjectIdentifier: TwinComparison] = [:]
  var comparisons: [ObjectIdentifier: PrivateComparison] = [:]
  private(set) lazy var uploads = UploadQueue(self)
  var probes: [ProbeMemory.Key: OriginProbe] = [:]
  /// Of the loop that watches the files of certificates.
  var certificateTimer: LoopTimer?
  private var pools: [ObjectIdentifier: OriginPool] = [:]
  private var lastPool: OriginPool?
  private(set) var isDraining = false
  private var isAbandoned = false
  /// Whether no answer that counts as sent is still on its way to its client's socket.
  var hasClosedAll: Bool { loop.closingCount == 0 || isAbandoned }
  @exclusivity(unchecked) private var uncollapsed = UncollapsedResources()
  private var slowWrites = SlowWrites()
  var spillPace = SpillPace()
  @exclusivity(unchecked) var memory = LoopMemory()
  @exclusivity(unchecked) var requestIDs = RequestIDs()
  private var dateSecond: Int64 = -1
  private var dateBytes: [UInt8] = []

  var events: EventLog { server.events }
  var pool: WorkerPool { server.workers }

  init(loop: EventLoop, server: Server, router: Router) {
    (self.loop, self.server, self.router) = (loop, server, router)
    deadlines = DeadlineQueue(loop: loop)
  }

  // MARK: - Connections

  /// Called once an address, when the server starts.
  func listen(
    on address: SocketAddress, sharing: PortSharing, _ settings: PawlConfig.ListenerSettings,
    certificates: ListenerCertificates?
  ) -> Result<SocketAddress, LoopError> {
    Result { () throws(LoopError) in
      let listener = try Listener(address: address, loop: loop, sharing: sharing)
      let entry = ListenerOnLoop(listener, settings: settings, certificates: certificates)
      listener.onAccept = { [unowned self, unowned entry] descriptor, peer in
        accepted(descriptor, from: peer, on: entry)
      }
      listener.onTrouble = { [unowned self] trouble in
        events.log(.warning, "accept-failed", ["why": "\(trouble)"])
      }
      listeners.append(entry)
      try listener.start()
      return listener.boundAddress
    }
  }

  func accepted(_ descriptor: CInt, from peer: SocketAddress, on listener: ListenerOnLoop) {
    let stream = SocketStream(adopting: descriptor, loop: loop, peer: peer)
    guard !isDraining, server.admit() else { return stream.reset() }
    guard listener.opensFirst else {
      let facts = ClientFacts(client: peer, isTrusted: server.isTrusted(peer), port: listener.port)
      return serve(stream, facts, on: listener)
    }
    let opening = Opening(stream: stream, peer: peer, listener: listener, owner: self)
    connections.add(opening)
    opening.start()
  }

  /// From here on the client speaks HTTP: the version that its handshake chose.
  /// - Parameter opening: what the connection was until now, and counted as.
  func serve(_ stream: SocketStream, _ facts: ClientFacts, on listener: ListenerOnLoop, after opening: Opening? = nil) {
    if let opening { connections.remove(opening) }
    if facts.tls?.applicationProtocol.elementsEqual("h2".utf8) == true {
      let connection = HTTP2Connection(stream: stream, facts: facts, listener: listener, owner: self)
      connections.add(connection)
      return connection.start()
    }
    let connection = ClientConnection(stream: stream, facts: facts, listener: listener, owner: self)
    connections.add(connection)
    connection.start()
  }

  func connectionClosed(_ connection: any ServedConnection) {
    guard connections.remove(connection) else { return }
    server.release()
    if isDraining { server.drained(self) }
  }

  func tunnel(
    from connection: ClientConnection, client: SocketStream, origin: SocketStream, toClient: [UInt8],
    toOrigin: [UInt8], headCount: UInt64, request: IncomingRequest, holding: AnyObject
  ) {
    let version = connection.clientVersion
    let id = ObjectIdentifier(connection)
    let tunnel = Tunnel(client: client, origin: origin, toClient: toClient, toOrigin: toOrigin) {
      [unowned self] down, _ in
      // The connection and the origin's place are kept until now.
      _ = holding
      request.record.bytesSent = down - min(down, headCount)
      self.log(request, version: version)
      self.tunnels[id] = nil
      connection.wasClosed()
    }
    tunnels[id] = tunnel
    tunnel.start()
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
    let route = known?.route ?? router.route(authority: head.authority, target: head.target)
    ClientCertificateField.settle(&head.fields, facts, isWanted: route?.tellsClientCertificate ?? false)
    var record = TransferRecord(began: began)
    record.upstream = route?.upstreamName ?? "-"
    let request = IncomingRequest(
      head: consume head, route: route ?? server.noRoute(router), loop: self, facts: facts, requestID: id,
      isRouted: route != nil, record: record)
    request.resource = known?.resource
    return request
  }

  /// The one that the request brought, or a new one.
  private func requestID(_ fields: Fields) -> [UInt8] {
    if let own = fields.only(.xRequestID) { return Array(own) }
    return requestIDs.make()
  }

  func makeExchange(for request: IncomingRequest, channel: any ResponseChannel) -> any Exchange {
    let head = request.head
    guard !request.facts.isMisdirected(head.authority) else {
      return ReplyExchange(Replies.misdirected(), request, channel)
    }
    guard request.isRouted || router.uploadRoute(authority: head.authority, target: head.target) != nil else {
      return ReplyExchange(Replies.noSite(head.authority), request, channel)
    }
    if router.urls.isDisguised(head.target) { return ReplyExchange(Replies.noUpload(), request, channel) }
    if MaxForwards.isOver(head) {
      return ReplyExchange(head.method == .options ? Replies.options() : Replies.noTrace(), request, channel)
    }
    if head.method == .options, head.target.equals("*") { return ReplyExchange(Replies.options(), request, channel) }
    if let exchange = makeUploadExchange(for: request, channel: channel) { return exchange }
    let options = HopByHop.connectionOptions(head.fields)
    let isRead = (head.method == .get || head.method == .head) && head.framing == .none
    if isRead, !(options.upgrade && head.fields.contains(.upgrade)) {
      if let cache = request.route.cache { return DownloadExchange(request, channel: channel, store: cache) }
      if head.method == .get { return UnkeptExchange(request, channel: channel) }
    }
    return ForwardExchange(request, channel: channel, why: isRead ? .bypass : .method)
  }

  func pool(for upstream: Upstream) -> OriginPool {
    if let lastPool, lastPool.upstream === upstream { return lastPool }
    let pool = pools[ObjectIdentifier(upstream)] ?? OriginPool(upstream: upstream, loop: loop)
    pools[ObjectIdentifier(upstream)] = pool
    lastPool = pool
    return pool
  }

  /// What an unsafe request that succeeded may have changed is no longer answered from the store (RFC 9111 §4.4).
  /// Calls `done` when that is so, at once unless something has to be read from the catalogue first.
  func invalidate(after request: IncomingRequest, answer: ResponseHead, then done: @escaping () -> Void) {
    var waiting = 1
    let oneDone = {
      waiting -= 1
      if waiting == 0 { done() }
    }
    for target in invalidationTargets(request: request.head, response: answer) {
      let key = request.key(target)
      guard let store = router.route(authority: request.head.authority, target: target)?.cache,
        let resource = store.resource(for: key, create: false)
      else { continue }
      waiting += 1
      store.invalidate(resource, on: loop, oneDone)
    }
    for tree in outdatedTrees(request: request.head, response: answer) {
      for store in router.caches(authority: request.head.authority) {
        waiting += 1
        store.forgetAll(below: request.key(tree), on: loop, oneDone)
      }
    }
    oneDone()
  }

  // MARK: - Resources

  /// Requests for this resource do not wait for each other for a while; so long it stays in the index.
  func uncollapse(_ resource: Resource, in store: CacheStore) { uncollapsed.mark(resource, in: store, at: loop.now) }

  /// An exchange is done with a resource: one that holds nothing, and bears no mark, leaves the index.
  func letGo(of resource: Resource, in store: CacheStore) { uncollapsed.letGo(of: resource, in: store, at: loop.now) }

  // MARK: - Slow disks

  /// Whether content is to be written in the pool.
  var expectsSlowWrites: Bool { slowWrites.areExpected(at: loop.now) }
  /// The system kept a thread so long for a write, wherever it was.
  func noteWrite(_ took: Duration) { slowWrites.note(took, at: loop.now) }

  // MARK: - Time, buffers

  var dateField: [UInt8] {
    let now = loop.wallSeconds
    if now != dateSecond { (dateSecond, dateBytes) = (now, HTTPDate.format(now)) }
    return dateBytes
  }

  private var hotBuffer: [UInt8] = []

  /// Where an answer from memory is put together.
  func takeHotBuffer() -> [UInt8] {
    var buffer: [UInt8] = []
    swap(&buffer, &hotBuffer)
    if buffer.capacity == 0 { buffer.reserveCapacity(64 << 10) }
    return buffer
  }

  /// Of connections that are idle again; at most ``ConnectionWork/sparesLimit``.
  @exclusivity(unchecked) var spareWorks: [ConnectionWork] = []

  func giveHotBuffer(_ buffer: consuming [UInt8]) { hotBuffer = buffer }

  // MARK: - Ending

  func drain() {
    isDraining = true
    loop.whenNoneCloses = { [weak self] in self.map { $0.server.drained($0) } }
    for listener in listeners { listener.close() }
    for connection in connections.all { connection.drain() }
    uploads.drain()
    server.drained(self)
  }

  /// The time for draining is over: what still runs is cut, what was fetched stays.
  func abandon() {
    isAbandoned = true
    for tunnel in Array(tunnels.values) { tunnel.over() }
    for connection in connections.all { connection.abandonAll(BodyEnd(party: .pawl, reason: "shutdown")) }
    uploads.stop()
    server.drained(self)
  }

  /// The loop is about to stop.
  func end() {
    closeOrigins()
    letGoOfConnections()
  }

  func closeOrigins() {
    uploads.stop()
    for fetch in Array(fetches.values) { fetch.stop() }
    for fill in Array(fills.values) { fill.stop() }
    for comparison in Array(comparisons.values) { comparison.stop() }
    for pool in pools.values { pool.closeIdle() }
  }

  /// They hold the loop, and their streams and their deadlines hold them.
  private func letGoOfConnections() {
    isDraining = true
    deadlines.removeAll()
    for connection in connections.all { connection.stream.delegate = nil }
    connections.removeAll()
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
    guard let log = server.accessLog else { return }
    log.write(AccessRecord(request, version: version, now: loop.now, wall: server.clock.wallMilliseconds()))
  }

  /// - Parameter facts: of the connection on which something came that never became a request.
  func logRefusal(_ facts: ClientFacts, status: Int, bytes: Int) {
    guard let log = server.accessLog else { return }
    log.write(
      AccessRecord(
        refused: status, bytes: bytes, peer: facts.client, wall: server.clock.wallMilliseconds()))
  }
}
