import PawlCertificates
import PawlConfig
import PawlLoop
import PawlObserve
import PawlUpstream

/// The top of one loop: accepts connections, finds who answers a request, and ends all of it in order. Touched on that loop only.
final class ServerLoop {
  let services: LoopServices
  let downloads: LoopDownloads
  let uploads: LoopUploads
  private(set) lazy var connections = LoopConnections(downloads, admission: server.admission, dispatch: self)
  /// Each holds the other until the loops have stopped: a weak or unowned reference would be counted at every use, which two
  /// loops pay for by turns.
  let server: Server
  private(set) var listeners: [ListenerOnLoop] = []
  /// Of the loop that watches the files of certificates.
  private var certificateTimer: LoopTimer?
  /// Of the loop that asks the nodes of all upstreams whether they work.
  private var nodeChecks: [NodeChecks] = []
  /// The time for draining is over.
  var isAbandoned = false

  var loop: EventLoop { services.loop }
  init(loop: EventLoop, server: Server, router: Router) {
    self.server = server
    services = LoopServices(loop: loop, shared: server.services, router: router)
    downloads = LoopDownloads(services, abandoned: server.abandoned)
    uploads = LoopUploads(services, spilledAnswers: server.spilledAnswers)
    uploads.queue.whenOneEnded = { [unowned self] in
      if services.isEnding { self.server.drained(self) }
    }
  }

  // MARK: - Accepting

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
        services.shared.failures.noteAccept("\(trouble)")
      }
      listeners.append(entry)
      try listener.start()
      return listener.boundAddress
    }
  }

  func accepted(_ descriptor: CInt, from peer: SocketAddress, on listener: ListenerOnLoop) {
    let stream = SocketStream(accepted: descriptor, loop: loop)
    let admission = server.admission
    guard !services.isEnding, admission.admit(services.shared.failures) else { return stream.reset() }
    guard listener.opensFirst else {
      let facts = ClientFacts(client: peer, isTrusted: admission.isTrusted(peer), port: listener.port)
      return serve(stream, facts, on: listener, after: nil)
    }
    let opening = Opening(stream: stream, peer: peer, listener: listener, connections: connections)
    connections.members.add(opening)
    opening.start()
  }

  /// Looks at the files of all certificates again and again, off the loop; one look at a time, however long it takes.
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

  /// From now on the nodes of these upstreams are checked, where they are to be, and of no others. Those that stay go on as they were.
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

  /// The loop is about to stop.
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
