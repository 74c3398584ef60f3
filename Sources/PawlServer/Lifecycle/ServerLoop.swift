import PawlCertificates
import PawlLoop
import PawlObserve
import PawlUpstream

/// The server's part on one loop: accepts connections, makes the exchange for each request, and ends both in a drain. Touched
/// on that loop only.
final class ServerLoop {
  let services: LoopServices
  let downloads: LoopDownloads
  let uploads: LoopUploads
  private(set) lazy var connections = LoopConnections(downloads, admission: server.admission, dispatch: self)
  /// A strong reference, and so a reference cycle until the loops have stopped. With a weak or unowned reference every use would
  /// change a counter, and loops that do so at the same time would slow each other down.
  let server: Server
  var listeners: [ListenerOnLoop] = []
  /// The listeners that are bound and do not accept yet, by number (``BoundListener/id``).
  var boundListeners: [Int: [Listener]] = [:]
  /// Used only on the loop that watches the certificate files.
  private var certificateTimer: LoopTimer?
  /// Used only on the loop that checks the nodes of all upstreams.
  private var nodeChecks: [NodeChecks] = []
  /// Whether the answers that still ran at the end of a drain have been cut (``abandon()``).
  var isAbandoned = false

  var loop: EventLoop { services.loop }
  init(loop: EventLoop, server: Server, router: Router) {
    self.server = server
    services = LoopServices(loop: loop, shared: server.services, router: router)
    server.services.metrics.add(loop.counters)
    downloads = LoopDownloads(services, abandoned: server.abandoned)
    uploads = LoopUploads(services, oversizedResponses: server.oversizedResponses)
    uploads.queue.whenOneEnded = { [unowned self] in
      if services.isEnding { self.server.drained(self) }
    }
  }

  // MARK: - Accepting

  func accepted(_ descriptor: CInt, from peer: SocketAddress, on listener: ListenerOnLoop) {
    let stream = SocketStream(accepted: descriptor, loop: loop)
    let admission = server.admission
    services.counters.add(.accepted)
    guard !services.isEnding, admission.admit(services.shared.failures) else {
      services.counters.add(.rejectedConnections)
      return stream.reset()
    }
    guard listener.opensFirst else {
      let facts = ClientFacts(client: peer, isTrusted: admission.isTrusted(peer), port: listener.port)
      return serve(stream, facts, on: listener, after: nil)
    }
    let opening = Opening(stream: stream, peer: peer, listener: listener, connections: connections)
    connections.add(opening)
    opening.start()
  }

  /// Checks the files of all certificates at intervals, in the pool; one check at a time, however long it takes.
  func watchCertificates() {
    let timer = certificateTimer ?? loop.makeTimer { [unowned self] in lookAtCertificates() }
    certificateTimer = timer
    timer.schedule(after: Certificates.interval)
  }

  private func lookAtCertificates() {
    let certificates = server.certificates
    services.pool.run({ certificates.look() }, then: loop) { [unowned self] in
      guard !services.isEnding else { return }
      watchCertificates()
    }
  }

  /// Starts to check the nodes of these upstreams, where their settings ask for checks, and stops the checks of all other
  /// upstreams. Checks of these upstreams that already run go on.
  func checkNodes(of upstreams: [Upstream]) {
    let upstreams = services.isEnding ? [] : upstreams
    for checks in nodeChecks where !upstreams.contains(where: { $0 === checks.upstream }) { checks.stop() }
    let kept = nodeChecks.filter { checks in upstreams.contains { $0 === checks.upstream } }
    let new = upstreams.filter { upstream in !kept.contains { $0.upstream === upstream } }
      .compactMap { NodeChecks($0, on: loop) }
    nodeChecks = kept + new
    for checks in new { checks.start() }
  }

  // MARK: - Ending

  /// Frees what the loop holds, before it stops.
  func end() {
    closeOrigins()
    services.isEnding = true
    checkNodes(of: [])
    connections.letGo()
  }

  func closeOrigins() {
    uploads.queue.stop()
    services.forgetReminders()
    downloads.stop()
    services.closeIdle()
  }
}
